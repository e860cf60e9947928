// expect: value 1 | error SyntaxError | error RangeError
// source: repeat 70000 "a," in "(function(" "b){ return 1 })()"
