// expect: value 1 | error TypeError
const a = []; Object.setPrototypeOf(a, new Proxy([], { set(t, k, v, r) { Reflect.defineProperty(r, k, { value: v, configurable: true }); return true; } })); a[5] = 1; a.push(2); a.length = 2; 1;
