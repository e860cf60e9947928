// expect: memory
const p = Promise.resolve(); for (;;) p.then(() => 1);
