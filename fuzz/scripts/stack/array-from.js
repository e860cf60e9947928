// expect: error RangeError
const f = () => Array.from([1], f); f();
