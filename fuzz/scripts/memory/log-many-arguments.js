// expect: value 1 | memory
console.log(...new Array(10000).fill('argument')); 1;
