// expect: timeout
new Set({ [Symbol.iterator]: () => ({ next: () => ({ value: 1 }) }) });
