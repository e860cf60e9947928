// expect: error RangeError | error SyntaxError | value null
// source: repeat 20000 "if(0);else " in "" ";null"
