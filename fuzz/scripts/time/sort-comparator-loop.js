// expect: timeout
[3, 2, 1].sort(() => { for (;;); });
