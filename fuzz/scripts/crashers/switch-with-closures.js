// expect: value 1 | error ReferenceError
switch (1) { case 0: let x; case 1: try { x; } catch { } const f = () => x; default: x = 1; } 1;
