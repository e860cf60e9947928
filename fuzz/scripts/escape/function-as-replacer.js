// expect: error TypeError | error EvalError | error ReferenceError | error Error
'x'.replace('x', Function);
