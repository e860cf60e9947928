// expect: memory | timeout
const a = []; for (;;) a.unshift(a.length, {}, {}, {});
