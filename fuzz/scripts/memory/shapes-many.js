// expect: memory
const k = []; for (let i = 0; ; i++) { const o = {}; o['a' + i] = 1; o['b' + i] = 2; k.push(o); }
