// expect: memory | timeout
const a = [1]; a.length = 1e5; for (;;) a.push(a.slice());
