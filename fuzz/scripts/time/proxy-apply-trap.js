// expect: timeout
new Proxy(() => 0, { apply() { for (;;); } })();
