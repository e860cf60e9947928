// expect: timeout
const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { for (;;); } }); throw e;
