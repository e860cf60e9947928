// expect: value [1] | error NeverSettled
Promise.prototype.then = () => 'mine'; later(1);
