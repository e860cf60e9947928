// expect: value 1
const a = [1, 2, 3]; for (const x of a) { a.length = 0; a.length = 3; delete a[0]; if (a.n > 50) break; a.n = (a.n ?? 0) + 1; } 1;
