// expect: memory
let a = [1]; for (;;) a = a.concat(a);
