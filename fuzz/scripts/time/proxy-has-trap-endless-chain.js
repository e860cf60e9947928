// expect: timeout
Object.setPrototypeOf(Object.prototype.__proto__ ?? Array.prototype, new Proxy({}, { has: () => { for (;;); } })); 'zz' in [];
