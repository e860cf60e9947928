// expect: error RangeError
const a = []; a.push(a); a.flat(Infinity);
