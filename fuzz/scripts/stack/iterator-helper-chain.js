// expect: error RangeError | stopped
// The engine calls the helper below without looking at its stack: past the native one, it is stopped.
let it = [1].values(); for (let i = 0; i < 20000; i++) it = it.map((x) => x); it.next();
