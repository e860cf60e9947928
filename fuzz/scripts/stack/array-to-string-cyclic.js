// expect: error RangeError | value ""
const a = []; a.push(a); String(a);
