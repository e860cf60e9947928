// expect: error RangeError | error SyntaxError
JSON.parse('{"a":'.repeat(100000) + '1' + '}'.repeat(100000));
