// expect: memory
for (let i = 0; ; i++) globalThis['global' + i] = { i };
