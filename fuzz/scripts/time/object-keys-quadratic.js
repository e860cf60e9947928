// expect: timeout | memory
const o = {}; for (let i = 0; ; i++) { o[i] = 1; Object.keys(o); }
