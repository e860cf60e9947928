// expect: value 1 | error TypeError
const b = new ArrayBuffer(64), t = new Uint8Array(b); t.copyWithin(0, { valueOf() { b.transfer(0); return 8; } }, 64); 1;
