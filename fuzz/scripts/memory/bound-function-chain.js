// expect: memory
let f = () => 0; for (;;) f = f.bind(null, f);
