// expect: error RangeError | error SyntaxError
async function fn() { fn(); JSON.parse('\u0095\u0080'); } fn(); const x = fn(); x;
