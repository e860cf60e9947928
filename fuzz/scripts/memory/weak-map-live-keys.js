// expect: memory
const w = new WeakMap(); const k = []; for (;;) { const o = {}; w.set(o, new Array(10)); k.push(o); }
