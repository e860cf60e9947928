// expect: value 1 | error TypeError
// Reported against the engine: sums of many extremes.
if (Math.sumPrecise) { const a = []; for (let i = 0; i < 20000; i++) a.push(1.7976931348623157e308, -1.7976931348623157e308, 5e-324); Math.sumPrecise(a); } 1;
