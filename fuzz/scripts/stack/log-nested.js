// expect: value 1 | timeout
let o = 1; for (let i = 0; i < 100000; i++) o = [o]; console.log(o); 1;
