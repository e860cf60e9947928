// expect: value "undefined"
typeof Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace')?.set;
