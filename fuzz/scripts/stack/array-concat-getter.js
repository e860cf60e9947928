// expect: error RangeError
const o = { [Symbol.isConcatSpreadable]: true, length: 1, get 0() { return [].concat(o); } }; [].concat(o);
