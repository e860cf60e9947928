// expect: timeout | memory | error InternalError | error RangeError
Array.prototype.join.call({ length: 2 ** 53 - 1 });
