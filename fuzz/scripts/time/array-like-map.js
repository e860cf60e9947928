// expect: timeout | error RangeError
Array.prototype.map.call({ length: 2 ** 50 }, () => 1);
