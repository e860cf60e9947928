// expect: memory
const k = []; for (;;) k.push(class { a() { } b() { } static c = 1; #d = 2; });
