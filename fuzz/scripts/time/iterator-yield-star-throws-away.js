// expect: timeout
const it = { [Symbol.iterator]() { return this; }, next: () => ({ done: false }), return() { for (;;); } };
for (const x of it) break;
