// expect: value 1 | error TypeError
// Reported against the engine: a generator whose body throws at once, spread.
function* g(a, b, c) { return new Date(16, Math); } Array.from(g()); 1;
