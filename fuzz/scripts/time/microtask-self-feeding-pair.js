// expect: timeout | memory
let a, b; a = () => Promise.resolve().then(b); b = () => Promise.resolve().then(a); a();
