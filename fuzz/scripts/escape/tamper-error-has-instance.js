// expect: error TypeError | error Thrown
Object.defineProperty(Error, Symbol.hasInstance, { value: () => { throw 1; } }); throw new TypeError('seen');
