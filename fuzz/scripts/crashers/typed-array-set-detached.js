// expect: value 1 | error TypeError
const b = new ArrayBuffer(64), t = new Uint8Array(b); t.set({ length: 4, get 0() { b.transfer(); return 1; }, 1: 2, 2: 3, 3: 4 }); 1;
