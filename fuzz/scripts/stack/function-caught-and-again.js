// expect: timeout
function f() { return 1 + f(); } for (;;) { try { f(); } catch { } }
