// expect: error TypeError
echo(10n);
