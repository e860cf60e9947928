// expect: error RangeError
const o = { [Symbol.hasInstance]: () => 1 instanceof o }; 1 instanceof o;
