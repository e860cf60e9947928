// expect: timeout | memory
JSON.stringify({}, new Proxy([], { get: (t, k) => (k === 'length' ? 2 ** 53 - 1 : 'k') }));
