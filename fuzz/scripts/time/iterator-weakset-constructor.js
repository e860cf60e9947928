// expect: timeout
const key = {}; new WeakSet({ [Symbol.iterator]: () => ({ next: () => ({ value: key }) }) });
