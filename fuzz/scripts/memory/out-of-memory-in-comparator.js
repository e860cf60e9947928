// expect: memory
const k = []; [1, 2, 3].sort(() => { for (;;) k.push({}); });
