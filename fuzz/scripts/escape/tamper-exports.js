// expect: value "ran"
// as: module
Object.prototype.toJSON = () => ({ type: 1, functions: 2 });
export default { run: () => 'ran', toJSON: undefined };
