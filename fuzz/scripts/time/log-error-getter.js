// expect: timeout
const e = new Error(); Object.defineProperty(e, 'message', { get() { for (;;); } }); console.log(e);
