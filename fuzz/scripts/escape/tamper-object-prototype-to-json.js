// expect: value [1]
Object.prototype.toJSON = () => 'mine'; const r = echo(1); delete Object.prototype.toJSON; r;
