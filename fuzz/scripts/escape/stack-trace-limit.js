// expect: error Error
Error.stackTraceLimit = 1e9; function f(n) { if (n) f(n - 1); else throw new Error('deep'); } f(500);
