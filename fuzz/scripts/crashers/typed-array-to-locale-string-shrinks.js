// expect: value 1 | error TypeError
const b = new ArrayBuffer(16, { maxByteLength: 16 }), t = new Uint8Array(b); Number.prototype.toLocaleString = () => { b.resize(0); return 'x'; }; t.toLocaleString(); 1;
