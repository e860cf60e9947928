// expect: error RangeError | value {} | memory
let f = function () { }; for (let i = 0; i < 1200; i++) f = f.bind(null); new f();
