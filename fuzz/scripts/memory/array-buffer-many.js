// expect: memory | error RangeError
const k = []; for (;;) k.push(new ArrayBuffer(1e6));
