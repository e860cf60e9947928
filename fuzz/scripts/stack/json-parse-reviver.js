// expect: error RangeError
const f = () => JSON.parse('[1]', f); f();
