// expect: memory | error SyntaxError
// source: repeat 9000000 "a" in "'" "'.length"
