// expect: error TypeError
JSON.parse('{"__proto__": {"polluted": true}}');
