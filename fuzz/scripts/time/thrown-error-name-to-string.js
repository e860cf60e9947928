// expect: timeout
const e = new Error('x'); e.name = { toString() { for (;;); } }; throw e;
