// expect: timeout
const s = '1 '.repeat(2e5); for (;;) Date.parse(s);
