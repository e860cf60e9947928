// expect: timeout
// The value is there at once; the jobs behind it never end.
(async () => { for (;;) await undefined; })();
7;
