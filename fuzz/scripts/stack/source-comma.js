// expect: value 1 | error RangeError | error SyntaxError
// source: repeat 100000 "0," in "" "1"
