// expect: timeout | memory | error RangeError
Array.prototype.toReversed.call({ length: 2 ** 32 - 1 });
