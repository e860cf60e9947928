// expect: value [1,2]
Array.prototype[Symbol.iterator] = function* () { yield 'mine'; }; echo(1, 2);
