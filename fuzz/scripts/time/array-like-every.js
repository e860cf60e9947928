// expect: timeout
Array.prototype.every.call({ length: 2 ** 50 }, () => true);
