// expect: error RangeError | timeout
let a = []; for (let i = 0; i < 50000; i++) a = [a]; a.flat(Infinity);
