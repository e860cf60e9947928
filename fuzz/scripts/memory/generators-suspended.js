// expect: memory
function* g() { const a = new Array(50).fill(0); yield a; } const k = []; for (;;) { const it = g(); it.next(); k.push(it); }
