// expect: error TypeError | error EvalError | error ReferenceError | error Error
(class { }).constructor('return 1')();
