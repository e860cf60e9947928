// expect: timeout | memory
new Uint8Array({ [Symbol.iterator]: () => ({ next: () => ({ value: 1 }) }) });
