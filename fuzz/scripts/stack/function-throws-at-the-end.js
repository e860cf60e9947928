// expect: error RangeError | error Error
function f() { try { f(); } finally { throw new Error('from the bottom'); } } f();
