// expect: error RangeError
const o = { raw: { length: 1, get 0() { return String.raw(o); } } }; String.raw(o);
