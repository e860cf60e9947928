// expect: value null | error RangeError | timeout
let o = {}; for (let i = 0; i < 20000; i++) o = Object.create(o); o.missing ?? null;
