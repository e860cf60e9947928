// expect: error RangeError
// as: module
await Promise.reject(new RangeError('no')); export default { run: () => 1 };
