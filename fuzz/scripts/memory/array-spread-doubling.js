// expect: memory | error RangeError
let a = [1]; for (;;) a = [...a, ...a];
