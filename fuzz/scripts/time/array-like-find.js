// expect: timeout
Array.prototype.find.call({ length: 2 ** 50 }, () => false);
