// expect: memory
const k = []; function f(n) { return n ? f(n - 1) : new Error('x'.repeat(50)); } for (;;) k.push(f(20));
