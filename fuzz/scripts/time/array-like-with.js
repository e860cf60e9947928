// expect: timeout | memory | error RangeError
Array.prototype.with.call({ length: 2 ** 32 - 1 }, 0, 1);
