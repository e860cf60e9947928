// expect: memory
const k = []; for (;;) k.push(new Promise(() => { }));
