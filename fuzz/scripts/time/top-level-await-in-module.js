// expect: timeout
// as: module
await (async () => { for (;;) await 1; })();
export default { run() { return 1; } };
