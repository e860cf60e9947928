// expect: timeout | memory | error RangeError
JSON.stringify(new Proxy([], { get: (target, key) => (key === "length" ? 2 ** 50 : null) }));
