// expect: error RangeError
const o = { get x() { const { x } = o; return x; } }; const { x } = o;
