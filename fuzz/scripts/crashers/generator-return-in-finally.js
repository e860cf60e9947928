// expect: value 1
function* g() { try { yield 1; } finally { try { it.return(3); } catch { } yield 2; } } const it = g(); it.next(); it.return(1); it.next(); 1;
