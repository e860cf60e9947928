// expect: value 1 | error TypeError | error RangeError
// Reported against the engine: the comparator resizes the buffer under the sort.
const b = new ArrayBuffer(256, { maxByteLength: 2560 }), u = new Uint8Array(b); for (let i = 0; i < 256; i++) u[i] = i; u[255] = 0;
let n = 0; for (const at of [1, 50, 500, 1000, 1500, 1734, 1800]) { b.resize(256); n = 0; u.sort((x, y) => { if (++n === at) b.resize(10); return x - y; }); } 1;
