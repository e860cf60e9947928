// expect: memory | error RangeError | error InternalError
const s = 'y'.repeat(1e6); String.raw({ raw: { length: 1e3, 0: s } , ...{} }, s, s, s, s, s, s, s, s, s, s);
