// expect: timeout
({ set x(v) { for (;;); } }).x = 1;
