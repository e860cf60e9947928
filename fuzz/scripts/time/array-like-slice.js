// expect: timeout | memory | error RangeError
Array.prototype.slice.call({ length: 2 ** 32 - 1 });
