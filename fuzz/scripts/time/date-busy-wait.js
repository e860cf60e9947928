// expect: timeout
const end = Date.now() + 1e9; while (Date.now() < end);
