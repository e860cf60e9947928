// expect: error SyntaxError | value 1 | error RangeError | error InternalError | memory
// source: repeat 70000 "a,a,a" in "(function(){ let b = 0; return [" "].length })(); var a; 1"
