// expect: timeout
Object.fromEntries({ [Symbol.iterator]: () => ({ next: () => ({ value: ['k', 1] }) }) });
