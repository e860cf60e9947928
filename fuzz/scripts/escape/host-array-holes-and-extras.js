// expect: value [[null,1]]
const a = [, 1]; a.extra = 2; echo(a);
