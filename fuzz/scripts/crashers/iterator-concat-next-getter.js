// expect: value 1 | error TypeError
// Reported against the engine: a getter of `next` that ends the outer iterator.
let outer; const evil = { [Symbol.iterator]: () => ({ get next() { outer.return(); return () => ({ done: true, value: 0 }); } }) };
outer = Iterator.concat(evil, [1]); outer.next(); 1;
