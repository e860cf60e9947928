// expect: timeout | memory
Array.from({ length: 2 ** 32 - 1 });
