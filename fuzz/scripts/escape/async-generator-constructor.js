// expect: error TypeError | error EvalError | error ReferenceError | error Error
(async function* () { }).constructor('yield 1')().next();
