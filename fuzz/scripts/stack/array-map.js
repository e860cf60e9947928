// expect: error RangeError
const f = () => [1].map(f); f();
