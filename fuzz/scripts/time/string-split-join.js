// expect: timeout | memory
const s = 'ab'.repeat(2e4); for (;;) s.split('').join('');
