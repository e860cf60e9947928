// expect: error RangeError
const s = { size: 1, has: () => new Set([1]).isSubsetOf(s), keys: () => [][Symbol.iterator]() }; new Set([1]).isSubsetOf(s);
