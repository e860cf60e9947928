// expect: timeout
const t = new Uint8Array(1 << 20); for (;;) t.fill(1).reverse().indexOf(2);
