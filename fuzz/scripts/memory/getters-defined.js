// expect: memory
const o = {}; for (let i = 0; ; i++) Object.defineProperty(o, 'g' + i, { get() { return i; }, configurable: true });
