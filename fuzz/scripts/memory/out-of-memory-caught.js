// expect: timeout | memory
// Going on after the limit was met, again and again.
const k = []; for (;;) { try { for (;;) k.push(new Array(1000).fill(1)); } catch { k.length >>= 1; } }
