// expect: error RangeError | value 0 | memory
let f = () => 0; for (let i = 0; i < 1200; i++) f = f.bind(null); f();
