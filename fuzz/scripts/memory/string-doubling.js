// expect: memory | error RangeError | error InternalError
let s = 'x'; for (;;) s += s;
