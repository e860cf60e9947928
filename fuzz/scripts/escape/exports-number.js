// expect: error TypeError
// as: module
export default 5;
