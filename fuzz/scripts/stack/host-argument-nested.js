// expect: error HostError | error RangeError
let o = 1; for (let i = 0; i < 5000; i++) o = [o]; echo(o);
