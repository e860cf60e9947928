// expect: error RangeError | value []
let p = {}; for (let i = 0; i < 9000; i++) p = new Proxy(p, {}); Object.keys(p);
