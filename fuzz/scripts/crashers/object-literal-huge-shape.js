// expect: value 35000
const o = {}; for (let i = 0; i < 70000; i++) o['k' + (i % 35000) + (i & 1)] = i; let n = 0; for (const k in o) { delete o[k]; n++; } n;
