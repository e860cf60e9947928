// expect: error RangeError
const o = { [Symbol.split]() { return 'a'.split(o); } }; 'a'.split(o);
