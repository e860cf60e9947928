// expect: timeout
function* g() { for (;;) yield 0; }
for (const x of g());
