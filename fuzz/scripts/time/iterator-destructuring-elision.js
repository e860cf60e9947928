// expect: timeout
const endless = { [Symbol.iterator]: () => ({ next: () => ({ get done() { for (;;); } }) }) };
const [, , x] = endless;
