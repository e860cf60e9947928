// expect: error RangeError
const f = () => Object.defineProperties({}, { x: { get value() { return f(); } } }); f();
