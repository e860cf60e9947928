// expect: memory | error RangeError | timeout
let x = 3n; for (;;) x *= x;
