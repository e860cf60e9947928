// expect: memory | error RangeError | error InternalError
let o = 'x'.repeat(100); for (let i = 0; i < 30; i++) o = [o, o]; JSON.stringify(o);
