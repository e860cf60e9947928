// expect: timeout
((x = (() => { for (;;); })()) => x)();
