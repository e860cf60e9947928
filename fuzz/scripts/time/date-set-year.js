// expect: timeout
const d = new Date(0); for (;;) { d.setFullYear(275000); d.toISOString(); d.toString(); }
