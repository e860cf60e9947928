// expect: error RangeError | error SyntaxError
// source: repeat 50000 "{a:" in "(" "1)"
