// expect: timeout | memory | error RangeError
Array.prototype.toSorted.call({ length: 2 ** 32 - 1 });
