// expect: value 1
const w = new WeakMap(); for (let i = 0; i < 5000; i++) { let k = {}; w.set(k, { k, w }); k = null; } 1;
