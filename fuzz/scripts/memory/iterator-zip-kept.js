// expect: memory
const k = []; for (;;) k.push([1, 2, 3].values().map((x) => x).filter(Boolean));
