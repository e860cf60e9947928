// expect: value -1 | value 0
// Reported against the engine: a start index that shrinks the buffer.
const b = new ArrayBuffer(64, { maxByteLength: 64 }), t = new Uint8Array(b); t.lastIndexOf(0, { valueOf() { b.resize(0); return 63; } });
