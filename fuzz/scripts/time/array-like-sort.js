// expect: timeout | memory
Array.prototype.sort.call({ length: 2 ** 53 - 1 });
