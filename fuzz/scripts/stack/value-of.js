// expect: error RangeError
const o = { valueOf() { return +o; } }; +o;
