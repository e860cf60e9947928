// expect: timeout | memory
Promise.all({ [Symbol.iterator]: () => ({ next: () => ({ value: 1 }) }) });
