// expect: error RangeError
// Reported against the engine: throwing the overflow needs stack itself.
function f() { const e = new Error('x'); e.stack; return f() + 1; } f();
