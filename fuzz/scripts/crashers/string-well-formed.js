// expect: value 1
const s = '\ud800a\udc00'.repeat(1000); s.isWellFormed(); s.toWellFormed(); s.normalize(); try { encodeURIComponent(s); } catch { } s.at(-1); [...s]; s.codePointAt(2999); 1;
