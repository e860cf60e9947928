// expect: value 1 | memory | error SyntaxError | timeout
// Reported against a binding: block scopes counted in sixteen bits.
// source: repeat 70000 "{let a}" in "" "1"
