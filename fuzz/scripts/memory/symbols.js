// expect: memory
const k = []; for (let i = 0; ; i++) k.push(Symbol('symbol number ' + i));
