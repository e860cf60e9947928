// expect: error TypeError | error HostError
echo(JSON.parse('{"__proto__": {"x": 1}}'));
