// expect: timeout
// as: module
export default new Proxy({}, { ownKeys() { for (;;); } });
