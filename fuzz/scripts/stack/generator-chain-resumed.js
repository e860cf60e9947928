// expect: error RangeError
function* g(n) { if (n) yield* g(n - 1); else yield 1; } for (let n = 1; ; n *= 2) for (const x of g(n));
