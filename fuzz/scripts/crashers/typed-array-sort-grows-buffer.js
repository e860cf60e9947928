// expect: value 1 | error TypeError | error RangeError
const b = new ArrayBuffer(64, { maxByteLength: 1 << 20 }), u = new Uint8Array(b); u.sort((x, y) => { b.resize(1 << 20); b.resize(64); return y - x; }); 1;
