// expect: value "string"
Error.prepareStackTrace = (e, sites) => sites; typeof new Error('x').stack;
