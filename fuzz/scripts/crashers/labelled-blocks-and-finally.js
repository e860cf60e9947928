// expect: value 1
a: { b: { try { break a; } finally { break b; } } } for (const i of [1, 2]) { try { continue; } finally { } } 1;
