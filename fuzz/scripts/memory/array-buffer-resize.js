// expect: memory | error RangeError
const b = new ArrayBuffer(8, { maxByteLength: 2 ** 30 }); for (let n = 8; ; n *= 2) b.resize(n);
