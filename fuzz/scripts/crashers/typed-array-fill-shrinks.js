// expect: value 1 | error TypeError
const b = new ArrayBuffer(4096, { maxByteLength: 4096 }), t = new Uint32Array(b); t.fill({ valueOf() { b.resize(4); return 7; } }); 1;
