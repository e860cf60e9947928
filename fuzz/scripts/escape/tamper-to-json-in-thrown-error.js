// expect: error TypeError
Object.prototype.toJSON = () => { throw 1; }; throw new TypeError('still told');
