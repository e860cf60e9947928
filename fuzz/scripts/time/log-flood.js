// expect: timeout
for (;;) console.log('spam', { a: 1 });
