// expect: value 1 | error RangeError
const a = [1, 2, 3]; let n = 0; try { Object.defineProperty(a, 'length', { value: { valueOf() { a.length = 0; return n++ ? 2 : 2; } } }); } catch { } 1;
