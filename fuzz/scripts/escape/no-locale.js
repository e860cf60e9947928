// expect: value "undefined"
typeof Intl;
