// expect: timeout
console.log({ toJSON() { for (;;); } });
