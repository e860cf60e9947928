// expect: memory
// Reported against a binding: plain objects in a loop under a memory limit crashed while the error was being built.
const a = []; for (;;) { a.push({ x: 1, y: 2, z: 3 }); }
