// expect: timeout
(async () => { for (;;) await later(1); })();
