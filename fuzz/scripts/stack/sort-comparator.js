// expect: error RangeError
const f = () => [2, 1].sort(f); f();
