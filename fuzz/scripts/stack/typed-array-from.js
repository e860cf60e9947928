// expect: error RangeError
const f = () => new Uint8Array([{ valueOf: f }]); f();
