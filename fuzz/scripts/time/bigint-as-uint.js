// expect: timeout | error RangeError | memory
for (;;) BigInt.asUintN(900000, -1n);
