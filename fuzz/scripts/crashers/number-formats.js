// expect: value 1
for (const x of [0, -0, 5e-324, 1.7976931348623157e308, NaN, Infinity, 0.1, 123456789.123]) for (let d = 0; d <= 100; d++) { x.toFixed(d); x.toExponential(d); if (d) x.toPrecision(d); } 1;
