// expect: value 1 | error RangeError
for (const a of [-(1n << 63n), (1n << 64n) - 1n, -1n, 0n]) for (const b of [-1n, 1n, 1n << 64n, -(1n << 63n)]) { a / b; a % b; a ** 2n; } try { 1n / 0n; } catch { } 1;
