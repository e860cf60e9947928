// expect: error TypeError | error EvalError | error ReferenceError | error Error
echo.constructor('return 1')();
