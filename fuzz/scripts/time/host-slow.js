// expect: timeout | value null
slow(150); slow(150); slow(150);
