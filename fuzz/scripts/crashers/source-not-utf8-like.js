// expect: error SyntaxError | value 1
"\u2028\u2029"; var ａ = 1; var \u{61}b = ａ; \u{61}b;
