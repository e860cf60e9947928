// expect: memory
const k = []; const s = 'abc'.repeat(10000); for (;;) k.push(s.split(''));
