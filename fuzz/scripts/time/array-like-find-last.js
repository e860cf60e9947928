// expect: timeout
Array.prototype.findLast.call({ length: 2 ** 50 }, () => false);
