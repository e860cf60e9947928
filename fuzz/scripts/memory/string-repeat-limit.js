// expect: error RangeError | memory
'x'.repeat(2 ** 31);
