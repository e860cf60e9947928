// expect: value null | value 0
// Reported against the engine: the index resizes the buffer that is read.
const b = new ArrayBuffer(4, { maxByteLength: 8 }), t = new Int8Array(b); t.at({ valueOf() { b.resize(6); return 4; } }) ?? null;
