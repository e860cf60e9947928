// expect: value "number"
Math.trunc = () => 'mine'; typeof Math.random();
