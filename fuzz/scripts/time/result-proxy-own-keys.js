// expect: timeout
new Proxy({}, { ownKeys() { for (;;); } });
