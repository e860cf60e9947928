// expect: value 1 | error TypeError
let h; h = [1, 2, 3].values().map(() => { h.return(); return h; }); try { h.next(); h.next(); } catch (e) { if (!(e instanceof TypeError)) throw e; } 1;
