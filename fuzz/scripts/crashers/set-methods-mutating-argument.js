// expect: value 1 | error TypeError
const s = new Set([1, 2, 3, 4]); s.isDisjointFrom({ size: 10, has() { s.clear(); return false; }, keys: () => [].values() }); s.add(1); s.difference({ size: 1, has: () => (s.clear(), true), keys: () => [1].values() }); 1;
