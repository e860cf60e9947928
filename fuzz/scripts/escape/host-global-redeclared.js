// expect: error SyntaxError | error TypeError
const echo = 1; echo;
