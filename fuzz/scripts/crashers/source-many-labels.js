// expect: value 1 | error SyntaxError | memory | timeout
// Reported against a binding: labels and jumps when compiling runs out of memory.
// source: repeat 40000 "x: { if (0) break x; }" in "" "1"
