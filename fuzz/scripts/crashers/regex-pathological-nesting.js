// expect: value 1 | error SyntaxError | timeout
// Reported against the engine: nested quantified groups that pass checks one by one.
for (let n = 1; n < 40; n++) { try { new RegExp('(?:'.repeat(n) + 'a' + '){0,3}'.repeat(n)).test('b'); } catch (e) { if (e.name !== 'SyntaxError') throw e; } } 1;
