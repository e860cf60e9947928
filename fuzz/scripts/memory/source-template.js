// expect: memory | error SyntaxError | error InternalError | timeout
// source: repeat 500000 "${1}" in "`" "`.length"
