// expect: memory | error RangeError
const k = []; for (;;) k.push(new Float64Array(1000));
