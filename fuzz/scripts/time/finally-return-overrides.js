// expect: timeout
function f() { for (;;) { try { return 1; } finally { continue; } } }
f();
