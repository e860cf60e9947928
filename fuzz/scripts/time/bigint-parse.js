// expect: timeout
const s = '9'.repeat(200000); for (;;) BigInt(s);
