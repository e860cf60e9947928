// expect: error TypeError
let it; function* g() { it.next(); } it = g(); it.next();
