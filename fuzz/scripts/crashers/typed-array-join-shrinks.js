// expect: value 1 | error TypeError
const b = new ArrayBuffer(64, { maxByteLength: 64 }), t = new Uint8Array(b); t.join({ toString() { b.resize(1); return ','; } }); 1;
