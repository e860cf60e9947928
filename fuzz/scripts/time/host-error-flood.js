// expect: timeout
for (;;) { try { fail('no'); } catch { } }
