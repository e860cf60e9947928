// expect: timeout | error TypeError
Array.prototype.splice.call({ length: 2 ** 53 - 2 }, 0, 1);
