// expect: error RangeError | value 0
let p = () => 0; for (let i = 0; i < 9000; i++) p = new Proxy(p, {}); p();
