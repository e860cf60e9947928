// expect: timeout
Array.prototype.filter.call({ length: 2 ** 50 }, () => true);
