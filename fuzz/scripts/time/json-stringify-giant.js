// expect: timeout | memory | error RangeError
const a = []; for (let i = 0; i < 1e5; i++) a.push(i); for (;;) JSON.stringify(a);
