// expect: error TypeError | value 1
// as: module
export default new Proxy(Object.freeze({ run: () => 1 }), { get: () => 1 });
