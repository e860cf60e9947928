// expect: timeout
Array.prototype.reduce.call({ length: 2 ** 50 }, (a) => a);
