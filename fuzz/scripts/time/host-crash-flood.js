// expect: timeout
for (;;) { try { boom(); } catch { } }
