// expect: error RangeError | value 1
let p = {}; for (let i = 0; i < 9000; i++) p = new Proxy(p, {}); p.x = 1;
