// expect: value [1]
Object.setPrototypeOf(globalThis, new Proxy({}, { get: () => 'mine', has: () => true })); echo(1);
