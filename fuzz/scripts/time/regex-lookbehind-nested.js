// expect: timeout
/(?<=^x(a+)+)b/.test('y' + 'a'.repeat(40) + 'b');
