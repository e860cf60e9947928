// expect: value 1 | memory | timeout
// source: repeat 100000 "'s' + 1.5," in "" "1"
