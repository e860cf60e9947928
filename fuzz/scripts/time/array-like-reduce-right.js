// expect: timeout
Array.prototype.reduceRight.call({ length: 2 ** 50 }, (a) => a, 0);
