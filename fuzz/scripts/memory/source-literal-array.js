// expect: memory | error SyntaxError | timeout
// source: repeat 400000 "[{}]," in "x = [" "]"
