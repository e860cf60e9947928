// expect: value 1
let keep; new Promise((a, b) => { keep = [a, b]; }); for (let i = 0; i < 100; i++) { keep[0](keep); keep[1](keep[0]); } 1;
