// expect: value 1
// Freeing what nobody holds any more must not recurse.
let o = null; for (let i = 0; i < 100000; i++) o = { o }; o = null; 1;
