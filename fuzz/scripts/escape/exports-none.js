// expect: error TypeError
// as: module
export const run = () => 1;
