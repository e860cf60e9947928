// expect: error Thrown
function* g() { } const it = g(); it.next(); it.throw('gone');
