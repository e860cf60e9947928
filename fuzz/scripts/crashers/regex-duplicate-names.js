// expect: value 1 | error SyntaxError
// Reported against the engine: a counter of eight bits for alternatives.
const b = ['(?<a>X)']; for (let i = 0; i < 255; i++) b.push('z'); b.push('(?<a>Y)'); try { new RegExp(b.join('|')).exec('Y'); } catch { } 1;
