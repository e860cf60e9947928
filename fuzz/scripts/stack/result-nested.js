// expect: error RangeError | error TypeError
let o = 1; for (let i = 0; i < 5000; i++) o = [o]; o;
