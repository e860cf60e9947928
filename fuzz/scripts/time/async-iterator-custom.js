// expect: timeout
const it = { [Symbol.asyncIterator]() { return { next: async () => ({ done: false, value: 0 }) }; } };
(async () => { for await (const x of it); })();
