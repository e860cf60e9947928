// expect: value 1 | error TypeError
let h; h = [1].values().flatMap(() => ({ [Symbol.iterator]() { h.return(); return [1].values(); } })); h.next(); h.next(); 1;
