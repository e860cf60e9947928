// expect: memory | timeout
let s = new Set([0]); for (let n = 1; ; n++) s = s.union(new Set([n, -n, 'x'.repeat(n) + n]));
