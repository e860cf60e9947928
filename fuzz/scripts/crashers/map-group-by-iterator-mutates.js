// expect: value 1
const a = [1, 2, 3]; Map.groupBy(a, (x) => { a.length = 0; return {}; }); 1;
