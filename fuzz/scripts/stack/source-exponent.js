// expect: error RangeError | error SyntaxError | value 1
// source: repeat 50000 "1**" in "" "1"
