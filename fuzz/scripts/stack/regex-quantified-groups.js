// expect: error SyntaxError | error RangeError | error InternalError | value false
new RegExp('(?:'.repeat(3000) + 'a' + ')*'.repeat(3000)).test('b');
