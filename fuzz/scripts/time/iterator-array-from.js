// expect: timeout | memory
Array.from({ [Symbol.iterator]: () => ({ next: () => ({ value: 1 }) }) }, () => 0);
