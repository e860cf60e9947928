// expect: error RangeError | error SyntaxError
// source: repeat 100000 "{" in "" ""
