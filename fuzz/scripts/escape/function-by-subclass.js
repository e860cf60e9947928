// expect: error TypeError | error EvalError | error ReferenceError | error Error
new (class extends Function { })('return 1')();
