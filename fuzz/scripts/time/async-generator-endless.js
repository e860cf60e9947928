// expect: timeout
async function* g() { for (;;) yield 1; }
(async () => { for await (const x of g()); })();
