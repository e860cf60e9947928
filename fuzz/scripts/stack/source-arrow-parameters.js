// expect: error RangeError | error SyntaxError
// source: repeat 5000 "(a=" in "" "1"
