// expect: value 2 | value 1
// as: module
let n = 0; export default { get run() { n++; return () => n; } };
