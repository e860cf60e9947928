// expect: error RangeError | memory
'x'.repeat(3e6);
