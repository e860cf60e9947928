// expect: memory
const k = []; for (;;) k.push(''.padEnd(1e5, String(k.length)));
