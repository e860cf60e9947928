// expect: value true
let fine = false; for (let i = 0; i < 1000; i++) if (Date.now() % 1 !== 0) fine = true; !fine;
