// expect: timeout
const m = new Map([[0, 0]]); let i = 1; for (const [k] of m) { m.delete(k); m.set(i++, 0); }
