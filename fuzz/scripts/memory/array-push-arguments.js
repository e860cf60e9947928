// expect: memory | error RangeError
const big = new Array(60000).fill(1); const a = []; for (;;) a.push.apply(a, big);
