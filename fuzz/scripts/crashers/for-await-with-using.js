// expect: value 1 | error TypeError | error SuppressedError
async function f() { for await (const v of [{ [Symbol.dispose]() { } }]) { using y = v; const k = []; for (let i = 0; i < 5000; i++) k.push({ k }); } return 1; } f();
