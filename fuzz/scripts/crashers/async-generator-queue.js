// expect: value "done" | error NeverSettled
// The engine forgets requests that queue up behind a return() of a generator that never started.
async function* g() { yield 1; } const it = g(); const many = []; for (let i = 0; i < 500; i++) many.push(it.next(), it.return(i), it.throw(i).catch(() => 0)); Promise.all(many).then(() => 'done');
