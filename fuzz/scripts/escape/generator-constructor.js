// expect: error TypeError | error EvalError | error ReferenceError | error Error
(function* () { }).constructor('yield 1')().next();
