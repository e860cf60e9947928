// expect: error TypeError
// as: module
export default { constructor: () => 1 };
