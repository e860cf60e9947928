// expect: error TypeError
const o = {}; o.o = o; echo(o);
