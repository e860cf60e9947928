// expect: timeout
for (;;) { try { throw new Error('again'); } catch (e) { e = null; } }
