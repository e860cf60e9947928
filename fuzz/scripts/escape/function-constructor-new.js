// expect: error TypeError | error EvalError | error ReferenceError | error Error
new Function('a', 'return a')(1);
