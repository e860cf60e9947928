// expect: value [{"name":"n","code":"c"}]
for (const k of ['name', 'message', 'code', 'stack', 'type', 'functions', 'values', 'then']) Object.defineProperty(Object.prototype, k, { set() { throw 'mine'; }, configurable: true });
echo({ name: 'n', code: 'c' });
