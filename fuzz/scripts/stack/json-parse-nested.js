// expect: error RangeError | error SyntaxError
JSON.parse('['.repeat(200000) + ']'.repeat(200000));
