// expect: error TypeError | error RangeError | error SyntaxError
// source: repeat 100000 ".a" in "({})" ""
