// expect: error TypeError | error EvalError | error ReferenceError | error Error
Object.getPrototypeOf(async () => 0).constructor('return 1')();
