// expect: memory
const k = []; JSON.stringify({ toJSON() { for (;;) k.push({}); } });
