// expect: memory
// Reported against a binding: allocating inside a job left a runtime that could not be freed.
Promise.resolve().then(() => { const a = []; for (let i = 0; ; i++) a.push({ i }); });
