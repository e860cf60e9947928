// expect: error TypeError | error EvalError | error ReferenceError | error Error
[].map.constructor('return 1')();
