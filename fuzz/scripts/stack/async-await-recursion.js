// expect: error RangeError | timeout | memory
async function f() { await f(); } f();
