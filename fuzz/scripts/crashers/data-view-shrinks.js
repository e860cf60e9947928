// expect: error RangeError | error TypeError
const b = new ArrayBuffer(64, { maxByteLength: 64 }), d = new DataView(b); d.setFloat64({ valueOf() { b.resize(1); return 8; } }, 1); d.getFloat64(8);
