// expect: memory
const m = new Map([[1, 1]]); const k = []; for (;;) k.push(m.entries());
