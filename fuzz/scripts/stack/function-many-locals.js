// expect: error RangeError
function f(a, b, c, d, e, g, h, i) { let j = [a], k = [b], l = [c]; return f(j, k, l, a, b, c, d, e) + j; } f();
