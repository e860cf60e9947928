// expect: error TypeError | error RangeError | error SyntaxError
// source: repeat 50000 "()" in "({})" ""
