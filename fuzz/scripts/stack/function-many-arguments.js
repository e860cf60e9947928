// expect: error RangeError | memory
const big = new Array(200).fill(0); function f(...a) { return f(...big) + a.length; } f();
