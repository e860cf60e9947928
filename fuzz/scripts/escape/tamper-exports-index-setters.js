// expect: value "ran" | memory | error Thrown
// as: module
Object.defineProperty(Array.prototype, 0, { set() { throw 1; }, configurable: true });
export default { run: () => 'ran' };
