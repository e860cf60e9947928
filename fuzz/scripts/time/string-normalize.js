// expect: timeout | memory
const s = '\u1e9b\u0323'.repeat(2e5); for (;;) s.normalize('NFKD').normalize('NFC');
