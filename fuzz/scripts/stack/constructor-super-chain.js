// expect: error RangeError
let C = class { }; for (let i = 0; i < 3000; i++) C = class extends C { }; new C();
