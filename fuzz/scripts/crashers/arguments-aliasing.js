// expect: value 1 | memory
function f(a, b) { arguments.length = 1e6; arguments[0] = {}; delete arguments[1]; arguments[1] = a; Object.defineProperty(arguments, 0, { get: () => 1 }); return [...arguments].length; } f(1, 2); 1;
