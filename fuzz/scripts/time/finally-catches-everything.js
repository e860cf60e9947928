// expect: timeout
// An engine that unwinds with an exception would run these handlers for ever.
for (;;) { try { for (;;); } catch { } finally { continue; } }
