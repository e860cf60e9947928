// expect: error RangeError | timeout
const o = { toJSON() { return { a: { toJSON: this.toJSON } }; } }; JSON.stringify(o);
