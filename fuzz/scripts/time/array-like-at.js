// expect: value null
Array.prototype.at.call({ length: 2 ** 53 - 1 }, -1) ?? null;
