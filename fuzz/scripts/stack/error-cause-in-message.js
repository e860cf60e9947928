// expect: error RangeError
const o = { toString() { throw new Error(o); } }; new Error(o);
