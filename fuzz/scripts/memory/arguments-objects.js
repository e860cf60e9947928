// expect: memory
const k = []; function f() { k.push(arguments); } for (;;) f(1, 2, 3, 4, 5);
