// expect: value 1 | error TypeError
Object.setPrototypeOf(Object.prototype, new Proxy({}, { get() { throw 'mine'; } })); 1;
