// expect: error RangeError
const o = { [Symbol.toPrimitive]() { return `${o}`; } }; `${o}`;
