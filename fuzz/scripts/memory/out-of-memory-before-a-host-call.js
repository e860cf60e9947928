// expect: memory
const k = []; try { for (;;) k.push(new Array(100).fill(k)); } catch { } for (;;) { k.push(echo('x'.repeat(10000))); }
