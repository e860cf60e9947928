// expect: timeout
const a = Array.from({ length: 3e4 }, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5);
