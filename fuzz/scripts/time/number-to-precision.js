// expect: timeout
for (;;) (5e-324).toPrecision(100).toString();
