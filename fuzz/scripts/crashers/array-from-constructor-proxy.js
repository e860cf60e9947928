// expect: value 1 | error TypeError
Array.from.call(new Proxy(function () { }, { construct: () => new Proxy([], { defineProperty: () => false }) }), [1, 2]); 1;
