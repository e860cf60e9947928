// expect: memory | error SyntaxError | error InternalError | timeout
let p = 'a'; for (let i = 0; i < 30; i++) p = `(?:${p}${p}){2}`; new RegExp(p);
