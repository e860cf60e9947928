// expect: memory
const k = []; for (;;) k.push(new AggregateError([1, 2, 3], 'many'));
