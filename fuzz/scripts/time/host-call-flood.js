// expect: timeout
for (;;) echo(1);
