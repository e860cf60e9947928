// expect: memory
const k = []; for (;;) k.push(Array.prototype.push.bind(null, ...new Array(1000)));
