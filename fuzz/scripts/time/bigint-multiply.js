// expect: timeout | memory | error RangeError
let x = 3n ** 100000n; for (;;) x = (x * x) % (7n ** 100000n) + 3n;
