// expect: memory | timeout
const k = []; try { for (;;) k.push('x' + k.length); } finally { for (;;) k.push('y' + k.length); }
