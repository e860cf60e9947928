// expect: timeout
const thenable = { then(resolve) { resolve(thenable); } };
Promise.resolve(thenable);
