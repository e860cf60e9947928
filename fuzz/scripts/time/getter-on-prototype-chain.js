// expect: timeout
Object.defineProperty(Object.prototype, 'trap', { get() { for (;;); } }); [].trap;
