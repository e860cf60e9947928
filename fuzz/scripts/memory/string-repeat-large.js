// expect: memory | error RangeError
'x'.repeat(2 ** 30 - 25);
