// expect: timeout
/^(?:(?:a{1,20}){1,20}){1,20}$/.test('a'.repeat(60) + '!');
