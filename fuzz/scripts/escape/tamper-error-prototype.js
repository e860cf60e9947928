// expect: error Error | error mine
Error.prototype.name = 'mine'; Error.prototype.toString = () => { throw 1; }; throw new Error('seen');
