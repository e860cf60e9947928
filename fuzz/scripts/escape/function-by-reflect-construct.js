// expect: error TypeError | error EvalError | error ReferenceError | error Error
Reflect.construct(Function, ['return 1'])();
