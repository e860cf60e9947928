// expect: value 1 | error TypeError
const b = new ArrayBuffer(1024, { maxByteLength: 1024 }), t = new Uint8Array(b);
t.constructor = { [Symbol.species]: function () { b.resize(8); return new Uint8Array(1024); } }; t.slice(); 1;
