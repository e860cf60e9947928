// expect: error SyntaxError | memory
new RegExp('(a)'.repeat(100000));
