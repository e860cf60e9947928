// expect: error RangeError | error TypeError | timeout
const p = new Proxy({}, { getPrototypeOf: () => p }); Object.prototype.isPrototypeOf.call({}, p); p instanceof Object;
