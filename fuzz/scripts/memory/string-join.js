// expect: memory | error RangeError
new Array(1e5).join('x'.repeat(1e5));
