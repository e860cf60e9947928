// expect: memory
let a = []; for (;;) a = [a, [a]];
