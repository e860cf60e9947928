// expect: value 1
const a = [1, 2, 3, 4]; Object.defineProperty(a, 1, { get() { a.length = 0; return 5; }, configurable: true }); [].concat(a, a); 1;
