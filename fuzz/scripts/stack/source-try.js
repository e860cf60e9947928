// expect: error RangeError | error SyntaxError
// source: repeat 10000 "try{" in "" ""
