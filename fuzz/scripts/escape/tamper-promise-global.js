// expect: value [1]
globalThis.Promise = function () { throw 'mine'; }; later(1);
