// expect: error RangeError
const e = new Error(); e.name = { toString: () => String(e) }; String(e);
