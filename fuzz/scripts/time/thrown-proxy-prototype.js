// expect: timeout
throw new Proxy({}, { getPrototypeOf() { for (;;); } });
