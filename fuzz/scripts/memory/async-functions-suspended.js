// expect: memory | error Thrown | timeout
// Without room for an error the engine rejects with null; where the last one rejects, its room is free for the next.
const never = new Promise(() => { }); async function f() { await never; } for (;;) f();
