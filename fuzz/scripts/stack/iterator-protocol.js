// expect: error RangeError
const it = { [Symbol.iterator]() { return [...it]; } }; [...it];
