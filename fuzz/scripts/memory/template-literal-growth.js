// expect: memory | error RangeError | error InternalError
let s = 'ab'; for (;;) s = `${s}${s}`;
