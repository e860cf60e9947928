// expect: error TypeError
({ a: [JSON.parse('{"__proto__": 1}')] });
