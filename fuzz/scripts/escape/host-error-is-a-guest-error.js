// expect: value [true,true]
let e; try { fail('x'); } catch (x) { e = x; } [e instanceof Error, e.constructor === Error];
