// expect: error RangeError
const o = { get a() { return Object.assign({}, o); } }; Object.assign({}, o);
