// expect: timeout
function* g() { for (;;) yield* [1, 2, 3]; }
const it = g(); for (;;) it.next();
