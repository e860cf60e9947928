// expect: error ReferenceError
// as: module
use(); let x = 1; function use() { return x; }
export default { run: () => 1 };
