// expect: memory
const k = []; let t = new Uint8Array(1024); for (;;) { t = t.subarray(0); k.push(t); }
