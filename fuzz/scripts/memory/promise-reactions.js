// expect: memory
const p = new Promise(() => { }); for (;;) p.then(() => 1, () => 2);
