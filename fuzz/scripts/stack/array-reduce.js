// expect: error RangeError
const f = () => [1, 2].reduce(f); f();
