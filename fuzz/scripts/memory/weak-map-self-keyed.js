// expect: memory | timeout
const w = new WeakMap(); let o = {}; for (;;) { const n = {}; w.set(n, o); o = n; }
