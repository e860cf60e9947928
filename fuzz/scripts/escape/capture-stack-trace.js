// expect: value "string"
const o = {}; Error.captureStackTrace(o, o.x); typeof o.stack;
