// expect: timeout
let s = 0; for (;;) { switch (s) { case 0: s = 1; default: s = 0; } }
