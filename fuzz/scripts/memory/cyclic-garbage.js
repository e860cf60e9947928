// expect: timeout
// Collected as it goes: this may run for ever, and must not grow.
for (;;) { const a = {}, b = { a }; a.b = b; }
