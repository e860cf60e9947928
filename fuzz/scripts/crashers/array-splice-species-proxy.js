// expect: value 1 | error TypeError
const a = [1, 2, 3, 4]; a.constructor = { [Symbol.species]: function () { a.length = 1; return new Proxy([], {}); } }; a.splice(1, 3, {}, {}); 1;
