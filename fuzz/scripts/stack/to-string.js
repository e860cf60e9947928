// expect: error RangeError
const o = { toString() { return '' + o; } }; '' + o;
