// expect: timeout
/^(a|aa|aaa)*$/.test('a'.repeat(80) + '!');
