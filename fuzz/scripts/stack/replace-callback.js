// expect: error RangeError
const f = () => 'a'.replace(/a/, f); f();
