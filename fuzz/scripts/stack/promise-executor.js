// expect: error NeverSettled
// An executor that throws rejects its promise: the recursion ends, and nobody resolves the outermost.
const f = () => new Promise(f); f();
