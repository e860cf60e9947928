// expect: memory | error SyntaxError | error InternalError | timeout
// Reported against a binding: a module that is larger than what the limit can compile.
// source: repeat 120000 "function f$(){ return [1,{a:2},'text',/re/]; }" in "" ""
