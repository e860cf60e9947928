// expect: error RangeError | memory
const a = []; for (let i = 0; i < 60000; i++) a.push({ '': { '': { } } }); a;
