// expect: value [1]
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 'mine'; echo(1);
