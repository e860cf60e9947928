// expect: value 1
// as: module
export const a0 = 0, a1 = 1; export { a0 as b0, a0 as b1, a0 as 'strange name', a1 as 'ü' }; export default { run: () => 1 };
