// expect: timeout | memory
const s = 'İ'.repeat(2e5); for (;;) s.toLowerCase();
