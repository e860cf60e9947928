// expect: error TypeError | value 1
const b = new ArrayBuffer(64, { maxByteLength: 64 }); b.constructor = { [Symbol.species]: function () { b.resize(1); return new ArrayBuffer(64); } }; b.slice(0); 1;
