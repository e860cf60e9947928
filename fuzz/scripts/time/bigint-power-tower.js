// expect: error RangeError
2n ** (2n ** 64n);
