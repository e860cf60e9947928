// expect: error RangeError | memory
1n << (1n << 40n);
