// expect: value null | error RangeError | error SyntaxError
// source: repeat 50000 "?.a" in "({}).a" " ?? null"
