// expect: timeout
Array.prototype.flat.call({ length: 2 ** 53 - 1 });
