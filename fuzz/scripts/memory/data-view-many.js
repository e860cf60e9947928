// expect: memory
const b = new ArrayBuffer(8); const k = []; for (;;) k.push(new DataView(b));
