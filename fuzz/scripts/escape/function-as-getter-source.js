// expect: error TypeError | error EvalError | error ReferenceError | error Error
[1].map(Function);
