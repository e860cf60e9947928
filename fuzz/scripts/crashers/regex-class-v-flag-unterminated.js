// expect: error SyntaxError | value 1
// Reported against the engine: a short class read past the end of its pattern.
for (const p of ['[]', '[', '[^]', '[\\', '[a-', '[&&', '[--', '[]-', '\\q{', '[\\q{']) for (const f of ['v', 'u', '', 'iv']) { try { new RegExp(p, f); } catch (e) { if (!(e instanceof SyntaxError)) throw e; } } 1;
