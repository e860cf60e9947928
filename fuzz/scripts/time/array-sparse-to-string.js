// expect: timeout | memory
// Reported against a binding: one expression that no interrupt reached.
new Array(1_000_000_000) + '\nundefined';
