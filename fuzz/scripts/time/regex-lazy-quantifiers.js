// expect: timeout
/^(.*?,){30}x$/.test('1,2,3,4,5,6,7,8,9,10,'.repeat(20));
