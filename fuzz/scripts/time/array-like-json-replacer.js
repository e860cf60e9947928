// expect: timeout | memory
JSON.stringify({}, new Proxy([], { get: (target, key) => (key === "length" ? 2 ** 50 : "k" + key) }));
