// expect: value 1 | memory
let p = new Promise(() => { }); for (let i = 0; i < 10000; i++) p = p.then(() => 1); p = null; 1;
