// expect: value 1
const a = new Array(1000).fill(1); a.includes(2, { valueOf() { a.length = 1; return 0; } }); a.indexOf(2, { valueOf() { a.length = 0; return 0; } }); 1;
