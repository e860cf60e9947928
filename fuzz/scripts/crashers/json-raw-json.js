// expect: value 1 | error SyntaxError
if (JSON.rawJSON) for (const t of ['!', '{}', '1 ', '"a"', '9'.repeat(1000), '']) { try { JSON.stringify(JSON.rawJSON(t)); } catch (e) { if (!(e instanceof SyntaxError)) throw e; } } 1;
