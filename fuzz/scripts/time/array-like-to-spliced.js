// expect: timeout | memory | error RangeError | error TypeError
Array.prototype.toSpliced.call({ length: 2 ** 53 - 1 }, 0, 0);
