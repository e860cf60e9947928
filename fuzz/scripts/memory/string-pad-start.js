// expect: memory | error RangeError
'x'.padStart(2 ** 29, 'ab');
