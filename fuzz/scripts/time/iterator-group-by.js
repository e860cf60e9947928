// expect: timeout | memory
function* g() { for (;;) yield 1; }
Map.groupBy(g(), () => 'same');
