// expect: timeout | memory
const never = { then() { } };
Promise.race({ [Symbol.iterator]: () => ({ next: () => ({ value: never }) }) });
