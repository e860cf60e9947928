// expect: timeout
const s = '\u0344'.repeat(1e5); for (;;) s.localeCompare(s + 'x');
