// expect: value 1 | error TypeError
const a = [1, 2, 3]; a.constructor = { [Symbol.species]: function () { return a; } }; a.slice(1); a.splice(0, 2); a.concat(a); 1;
