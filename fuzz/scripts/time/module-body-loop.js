// expect: timeout
// as: module
for (;;);
export default { run() { return 1; } };
