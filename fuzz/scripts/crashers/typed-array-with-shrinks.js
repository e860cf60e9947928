// expect: value 1 | error RangeError | error TypeError
const b = new ArrayBuffer(4096, { maxByteLength: 4096 }), t = new Uint8Array(b); t.with(4095, { valueOf() { b.resize(1); return 7; } }); 1;
