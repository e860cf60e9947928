// expect: value "{\"a\":1}" | value "{\"a\":1,\"b\":null}"
JSON.stringify({ get a() { delete this.a; delete this.b; return 1; }, get b() { return 2; } });
