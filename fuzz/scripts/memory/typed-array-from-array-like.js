// expect: memory | error RangeError
new Float64Array({ length: 2 ** 30 });
