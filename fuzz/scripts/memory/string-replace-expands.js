// expect: memory | error RangeError | timeout
let s = 'aaaa'; for (;;) s = s.replaceAll('a', '$&$&$`$\'');
