// expect: value 1
const m = new Map([[1, {}], [2, {}], [3, {}]]); m.forEach((v, k) => { m.clear(); m.set(k + 10, {}); if (k > 100) m.clear(); }); 1;
