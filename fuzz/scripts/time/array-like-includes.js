// expect: timeout
Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);
