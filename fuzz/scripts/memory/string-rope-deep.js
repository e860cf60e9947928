// expect: memory | timeout
let s = ''; for (;;) s = 'a' + s + 'b'.repeat(1000);
