// expect: timeout | memory
[...{ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: undefined }) }) }];
