// expect: memory | error RangeError
const b = new ArrayBuffer(1e6); const k = []; for (;;) k.push(b.slice(0));
