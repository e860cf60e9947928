// expect: memory | timeout
const k = []; for (;;) k.push(echo({ a: [1, 2, 3], b: 'text' }));
