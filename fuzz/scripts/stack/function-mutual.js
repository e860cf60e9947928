// expect: error RangeError
const a = () => b() + 1, b = () => a() + 1; a();
