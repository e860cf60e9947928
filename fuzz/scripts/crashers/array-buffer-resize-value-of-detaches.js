// expect: error TypeError | value 1 | error RangeError
const b = new ArrayBuffer(8, { maxByteLength: 64 }); b.resize({ valueOf() { b.transfer(); return 64; } }); 1;
