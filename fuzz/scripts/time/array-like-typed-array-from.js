// expect: timeout | memory | error RangeError
Float64Array.from({ length: 2 ** 50 }, () => 1);
