// expect: timeout
const t = new Float64Array(1e5).map((_, i) => (i * 7919) % 1e5); for (;;) t.toSorted((a, b) => b - a);
