// expect: error ReferenceError
process.env;
