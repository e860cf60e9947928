// expect: memory
const m = new Map(); for (let i = 0; ; i++) m.set('key ' + i, 1);
