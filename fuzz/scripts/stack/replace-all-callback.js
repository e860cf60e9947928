// expect: error RangeError
const f = () => 'a'.replaceAll('a', f); f();
