// expect: value 1 | error TypeError | error RangeError
const b = new ArrayBuffer(1024, { maxByteLength: 1024 }), t = new Uint8Array(b, 512);
t.constructor = { [Symbol.species]: function (...a) { b.resize(8); return new Uint8Array(...a); } }; t.subarray(1); 1;
