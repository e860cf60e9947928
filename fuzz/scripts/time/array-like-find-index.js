// expect: timeout
Array.prototype.findIndex.call({ length: 2 ** 50 }, () => false);
