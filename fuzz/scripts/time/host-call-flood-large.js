// expect: timeout
const s = 'x'.repeat(100000); for (;;) echo(s);
