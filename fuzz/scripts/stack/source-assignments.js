// expect: error RangeError | error SyntaxError | value 1
// source: repeat 50000 "a=" in "var a;" "1"
