// expect: error TypeError | error EvalError | error ReferenceError | error Error
(() => 0).constructor('return globalThis')();
