// expect: timeout
/^(\p{Lu}|\p{Ll}|ß)*$/iu.test('ß'.repeat(50) + '!');
