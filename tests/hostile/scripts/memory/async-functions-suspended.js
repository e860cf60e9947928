// expect: memory | error Thrown
// Without room for an error the engine rejects with null.
const never = new Promise(() => { }); async function f() { await never; } for (;;) f();
