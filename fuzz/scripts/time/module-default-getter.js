// expect: timeout
// as: module
export default { get run() { for (;;); } };
