// expect: timeout
1 + { valueOf() { for (;;); } };
