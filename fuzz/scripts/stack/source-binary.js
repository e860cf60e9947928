// expect: value 100001 | error RangeError | error SyntaxError
// source: repeat 100000 "1+" in "" "1"
