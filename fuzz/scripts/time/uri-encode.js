// expect: timeout | memory
const s = 'é'.repeat(2e5); for (;;) decodeURIComponent(encodeURIComponent(s));
