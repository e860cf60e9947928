// expect: value true
let depth = 0; const o = { get x() { return depth++ < 20 ? echo({ get x() { return o.x; } }) : 'end'; } }; echo(o) !== null;
