// expect: timeout
Array.prototype.shift.call({ length: 2 ** 53 - 1 });
