// expect: memory | error RangeError
const k = []; for (;;) { const b = new Uint8Array(4096); k.push(() => b); }
