// expect: error RangeError | value true
let p = []; for (let i = 0; i < 9000; i++) p = new Proxy(p, {}); Array.isArray(p);
