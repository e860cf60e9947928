// expect: value "undefined"
const r = typeof globalThis.left_behind; globalThis.left_behind = 1; Object.prototype.left_behind = 1; r;
