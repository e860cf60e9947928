// expect: timeout
const s = '1'.repeat(300000) + 'e-300000'; for (;;) parseFloat(s);
