// expect: memory | error RangeError
const k = []; for (let i = 1n; ; i++) k.push(i << 10000n);
