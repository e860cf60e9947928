// expect: error TypeError | error RangeError
// Reported against the engine: handlers that are proxies of the global object.
function a() { return {}; } const o = new Proxy(globalThis, new Proxy(new Proxy(globalThis, new Proxy(globalThis, { get: 0 })), { get: a })); String(o);
