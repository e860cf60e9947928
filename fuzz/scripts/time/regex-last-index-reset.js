// expect: timeout
const r = /a/g; for (;;) { r.lastIndex = 0; r.exec('a'); }
