// expect: error Thrown | timeout | memory
let o = 1; for (let i = 0; i < 50000; i++) o = [o]; throw o;
