// expect: error RangeError
const h = {}; const p = new Proxy({}, new Proxy(h, { get: () => () => p.x })); p.x;
