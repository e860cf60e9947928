// expect: timeout
((1n << 1000000n) - 1n).toString(10);
