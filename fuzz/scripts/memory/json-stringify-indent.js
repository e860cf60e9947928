// expect: memory | error RangeError | error InternalError
let o = 1; for (let i = 0; i < 4000; i++) o = [o, o.length === 1 ? 0 : 1]; JSON.stringify([o, o, o, o], null, '          ');
