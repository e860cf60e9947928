// expect: timeout | memory | error RangeError
3n ** (2n ** 22n);
