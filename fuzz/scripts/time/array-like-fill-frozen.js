// expect: error TypeError
Array.prototype.fill.call(Object.freeze({ length: 2 ** 53 - 1 }), 0);
