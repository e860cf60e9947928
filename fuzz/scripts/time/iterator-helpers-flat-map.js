// expect: timeout
function* g() { for (;;) yield 1; }
g().flatMap(() => []).next();
