// expect: timeout
const s = new Set([1]); s.forEach((v) => { s.delete(v); s.add(v); });
