// expect: error ReferenceError
// as: module
export * from 'qjs:std';
export default { run: () => 1 };
