// expect: error RangeError
const f = () => ({ [f()]: 1 }); f();
