// expect: memory
const k = []; ({ get a() { for (;;) k.push({}); } }).a;
