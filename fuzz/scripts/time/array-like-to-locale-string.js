// expect: timeout | memory | error RangeError
Array.prototype.toLocaleString.call({ length: 2 ** 50 });
