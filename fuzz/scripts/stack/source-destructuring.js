// expect: error RangeError | error SyntaxError
// source: repeat 20000 "[" in "var " "x"
