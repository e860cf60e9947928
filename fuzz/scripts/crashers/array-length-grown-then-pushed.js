// expect: value 30
// Reported against the engine: a grown fast array, then a push, then a collection.
const keep = []; for (let i = 0; i < 30; i++) { const a = [0]; a.length = 245; a.push(2); keep.push(a); } const junk = []; for (let i = 0; i < 20000; i++) junk.push({ i }); keep.length;
