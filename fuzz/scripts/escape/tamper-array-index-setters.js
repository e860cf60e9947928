// expect: value [1,{"a":[2]}] | memory | error Thrown
// The engine's own JSON.stringify runs into the setters: the guest gets nothing out, not even an error.
for (const i of [0, 1, 2, 3]) Object.defineProperty(Array.prototype, i, { set() { throw 'mine'; }, get() { return 'mine'; }, configurable: true });
echo(1, { a: [2] });
