// expect: timeout
Array.prototype.some.call({ length: 2 ** 50 }, () => false);
