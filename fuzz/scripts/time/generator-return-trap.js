// expect: timeout
function* g() { try { yield 1; } finally { for (;;) yield 2; } }
for (const x of g()) { }
