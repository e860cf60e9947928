// expect: memory | error RangeError
let b = new ArrayBuffer(1e6); for (let n = 2e6; ; n *= 2) b = b.transfer(n);
