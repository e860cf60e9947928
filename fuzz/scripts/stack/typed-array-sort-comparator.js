// expect: error RangeError
const f = () => { new Uint8Array([2, 1]).sort(f); return 0; }; f();
