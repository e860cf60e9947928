// expect: error TypeError
// as: module
export default null;
