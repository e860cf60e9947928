// expect: error ReferenceError | value 1
// as: module
export { run as again }; const run = () => 1; export default { run };
