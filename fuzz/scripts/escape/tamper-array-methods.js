// expect: value [1]
for (const k of Object.getOwnPropertyNames(Array.prototype)) { try { Array.prototype[k] = () => 'mine'; } catch { } } echo(1);
