// expect: value ["undefined","undefined"]
[typeof __host, typeof globalThis.__host];
