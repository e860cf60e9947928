// expect: memory
const m = []; while (true) m.push(new Array(1e6).fill('leak'));
