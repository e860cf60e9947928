// expect: error TypeError | error ReferenceError
(0, globalThis.eval)('1');
