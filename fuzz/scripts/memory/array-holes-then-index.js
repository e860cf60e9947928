// expect: value 4294967295
const a = []; a[4294967294] = 1; a.length;
