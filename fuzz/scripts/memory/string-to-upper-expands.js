// expect: memory
const k = []; for (;;) k.push('ŉ'.repeat(50000).toUpperCase());
