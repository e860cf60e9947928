// expect: error TypeError | error EvalError | error ReferenceError | error Error
Promise.resolve('return 1').then(Function);
