// expect: value [{"a":1}]
echo(new Proxy({ a: 1 }, {}));
