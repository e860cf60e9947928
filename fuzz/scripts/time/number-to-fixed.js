// expect: timeout
for (;;) (1.7976931348623157e308).toFixed(100);
