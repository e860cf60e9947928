// expect: timeout
function* g() { for (;;) yield 1; }
g().filter((x) => x === 2).map((x) => x).take(1).toArray();
