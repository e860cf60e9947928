// expect: error TypeError | error EvalError | error ReferenceError | error Error
(function () { }).bind().constructor('return 1')();
