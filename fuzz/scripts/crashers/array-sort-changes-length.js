// expect: value 1 | error TypeError
const a = [3, 2, 1, 0, 9, 8]; a.sort((x, y) => { a.length = 0; a.push({}, {}); return x - y; }); 1;
