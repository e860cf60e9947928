// expect: timeout
/^(a+)+$/.test('a'.repeat(40) + '!');
