// expect: error RangeError | value true | value false
let p = {}; for (let i = 0; i < 9000; i++) p = new Proxy(p, {}); p instanceof Array;
