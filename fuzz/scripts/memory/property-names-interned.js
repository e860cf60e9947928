// expect: memory
const o = {}; for (let i = 0; ; i++) o['property_' + i] = i;
