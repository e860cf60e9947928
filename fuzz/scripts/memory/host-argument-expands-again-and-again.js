// expect: timeout | memory
const many = new Array(40000).fill([[[]]]); for (;;) { try { echo(many); } catch { } }
