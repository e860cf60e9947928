// expect: error RangeError | error SyntaxError
// source: repeat 50000 "await " in "(async()=>" "1)()"
