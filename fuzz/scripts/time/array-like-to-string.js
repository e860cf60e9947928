// expect: timeout | memory | error InternalError | error RangeError
Array.prototype.toLocaleString.call({ length: 2 ** 40 });
