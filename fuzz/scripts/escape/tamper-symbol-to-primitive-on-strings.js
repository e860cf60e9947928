// expect: value [1]
String.prototype[Symbol.toPrimitive] = String.prototype.toString = String.prototype.valueOf = () => { throw 'mine'; }; echo(1);
