// expect: memory | error RangeError
const k = []; for (;;) k.push(new ArrayBuffer(1, { maxByteLength: 1e7 }));
