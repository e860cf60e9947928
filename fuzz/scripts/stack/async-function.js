// expect: error RangeError
async function f() { return f(); } f();
