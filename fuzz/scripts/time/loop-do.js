// expect: timeout
let n = 0; do { n = (n + 1) | 0; } while (n !== 0.5);
