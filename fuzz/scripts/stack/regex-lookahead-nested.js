// expect: error SyntaxError | error RangeError | error InternalError
new RegExp('(?='.repeat(50000) + ')'.repeat(50000));
