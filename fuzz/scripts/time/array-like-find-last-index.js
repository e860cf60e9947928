// expect: timeout
Array.prototype.findLastIndex.call({ length: 2 ** 50 }, () => false);
