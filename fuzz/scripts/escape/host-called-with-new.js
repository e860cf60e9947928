// expect: error TypeError
new echo(1);
