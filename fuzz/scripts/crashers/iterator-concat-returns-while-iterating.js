// expect: value 1 | error TypeError
// Reported against the engine: return() from within @@iterator freed what next() still held.
let it; const evil = { [Symbol.iterator]() { it.return(); return [][Symbol.iterator](); } };
it = Iterator.concat(evil); it.next(); 1;
