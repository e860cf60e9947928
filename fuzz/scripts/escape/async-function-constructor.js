// expect: error TypeError | error EvalError | error ReferenceError | error Error
(async function () { }).constructor('return 1')();
