// expect: value 5 | error Thrown | error NeverSettled
Promise.prototype.constructor = { [Symbol.species]: function (f) { f(() => 0, () => 0); } }; (async () => 5)();
