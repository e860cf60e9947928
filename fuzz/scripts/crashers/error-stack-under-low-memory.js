// expect: memory | error Thrown
// Without room for an error the engine throws null.
// Reported against the engine: building a back trace while out of memory.
const k = []; function f(n) { try { for (;;) k.push(new Array(50)); } catch (e) { if (n) return f(n - 1); throw e; } } f(100);
