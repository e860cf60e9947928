// expect: error RangeError
const o = { toJSON() { return JSON.stringify(o); } }; JSON.stringify(o);
