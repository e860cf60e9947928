// expect: timeout
const x = (1n << 800000n) - 1n; for (;;) x.toString(7);
