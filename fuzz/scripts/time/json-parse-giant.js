// expect: timeout | memory
const s = '[' + '1,'.repeat(1e5) + '1]'; for (;;) JSON.parse(s);
