// expect: timeout
const s = 'a'.repeat(1e6); for (;;) s.indexOf('aab');
