// expect: error RangeError
const o = { get a() { return { ...o }; } }; ({ ...o });
