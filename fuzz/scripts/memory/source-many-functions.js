// expect: memory | timeout
// source: repeat 60000 "function f(){return 1};" in "" ""
