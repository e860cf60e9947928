// expect: memory
let e = new Error('0'); for (;;) e = new Error('next', { cause: e });
