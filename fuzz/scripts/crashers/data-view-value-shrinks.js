// expect: error RangeError | error TypeError
const b = new ArrayBuffer(64, { maxByteLength: 64 }), d = new DataView(b); d.setBigUint64(56, { valueOf() { b.resize(8); return 1n; } });
