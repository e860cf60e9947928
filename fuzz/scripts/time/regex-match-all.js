// expect: timeout
[...('a'.repeat(36) + '!').matchAll(/(?:a|a)+$/g)];
