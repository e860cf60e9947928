// expect: timeout
new Map({ [Symbol.iterator]: () => ({ next: () => ({ value: [1, 1] }) }) });
