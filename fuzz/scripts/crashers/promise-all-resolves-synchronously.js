// expect: value 1 | error TypeError
const P = function (f) { f(() => 0, () => 0); }; P.resolve = () => ({ then(a) { a(1); a(2); a(3); } }); Promise.all.call(P, [1, 2, 3]); 1;
