// expect: timeout
Array.prototype.join.call({ length: 2 ** 50 }, '');
