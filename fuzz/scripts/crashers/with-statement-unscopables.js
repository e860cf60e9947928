// expect: value 1 | error ReferenceError | error TypeError
var o = { get [Symbol.unscopables]() { delete o.x; return {}; }, x: 1 }; with (o) { try { x = 2; } catch { } } 1;
