// expect: value 1 | error RangeError
for (const n of [0n, 1n, -1n, 63n, 64n, 65n, -64n, 1n << 31n, -(1n << 31n), 1n << 63n, -(1n << 63n)]) { try { (-5n) << n; } catch { } try { (-5n) >> n; } catch { } } 1;
