// expect: timeout
const o = {}; for (let i = 0; i < 5000; i++) o['k' + i] = i; for (;;) for (const k in o);
