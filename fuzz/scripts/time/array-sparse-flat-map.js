// expect: timeout
Array.prototype.flatMap.call({ length: 2 ** 50 }, () => []);
