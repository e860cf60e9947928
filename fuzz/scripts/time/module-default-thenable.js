// expect: value 5
// as: module
export default { run: () => ({ then(ok) { ok(5); } }), then() { for (;;); } };
