// expect: value 1 | error TypeError
try { Error.captureStackTrace(Object.freeze({})); } catch { } Error.captureStackTrace(new Proxy({}, { defineProperty: () => false })); 1;
