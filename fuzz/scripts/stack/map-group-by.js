// expect: error RangeError
const f = () => Map.groupBy([1], f); f();
