// expect: memory
const k = []; for (let i = 0; ; i++) k.push(String.fromCodePoint(0x10000 + (i & 0xffff)) + i);
