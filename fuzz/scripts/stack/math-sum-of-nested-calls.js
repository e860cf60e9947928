// expect: error RangeError
const f = (n) => Math.max(f(n + 1), f(n + 2)); f(0);
