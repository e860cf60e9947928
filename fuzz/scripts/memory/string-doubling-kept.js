// expect: memory | error RangeError | error InternalError
const k = []; let s = 'é'; for (;;) { s += s; k.push(s); }
