// expect: error TypeError | value 1
Object.fromEntries([new Proxy([], { get: (t, k) => (k === '0' ? { toString() { throw new TypeError('key'); } } : 1) })]); 1;
