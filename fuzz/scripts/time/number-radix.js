// expect: timeout
for (;;) (Math.PI * 1e300).toString(3);
