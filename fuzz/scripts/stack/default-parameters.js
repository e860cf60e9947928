// expect: error RangeError
const f = (a = f()) => a; f();
