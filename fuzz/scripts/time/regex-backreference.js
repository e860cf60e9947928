// expect: timeout
/^(.*)\1(.*)\2(.*)\3(.*)\4(.*)\5(.*)\6$/.test('ab'.repeat(200) + 'c');
