// expect: memory
const keep = []; for (;;) keep.push({});
