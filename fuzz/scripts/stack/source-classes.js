// expect: error RangeError | error SyntaxError
// source: repeat 5000 "class A extends " in "" "B{}"
