// expect: error AggregateError
const e = [Promise.reject(1), Promise.reject(2)]; Promise.any(e).catch((x) => { x.errors.length = 0; throw x; });
