// expect: timeout
const many = { length: 2 ** 50 };
for (;;) { Array.prototype.push.call(many); Array.prototype.pop.call(many); }
