// expect: timeout
new Proxy({}, { get() { for (;;); } }).x;
