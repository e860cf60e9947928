// expect: timeout
Array.prototype.forEach.call({ length: 2 ** 53 - 1 }, () => { });
