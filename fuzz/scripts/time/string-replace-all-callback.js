// expect: timeout
'ab'.repeat(10).replaceAll('a', () => { while (1); });
