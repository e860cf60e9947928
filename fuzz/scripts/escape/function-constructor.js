// expect: error TypeError | error EvalError | error ReferenceError | error Error
Function('return 1')();
