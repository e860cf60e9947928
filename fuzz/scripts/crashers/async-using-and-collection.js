// expect: value 1 | error TypeError | error SuppressedError | timeout | memory
// Reported against the engine: the collector did not see what a suspended function with `using` held.
async function f() { for (let i = 0; i < 50; i++) { await using x = { async [Symbol.asyncDispose]() { const junk = []; for (let j = 0; j < 300; j++) junk.push({ j, junk }); } }; await null; } return 1; } f();
