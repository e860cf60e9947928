// expect: timeout | memory
const s = 'l'.repeat(1e5); for (;;) console.log(s, s, s);
