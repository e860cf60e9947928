// expect: value 1
const r = /(.)(.)?/g; r[Symbol.replace]('abc', function () { r.lastIndex = 99; r.compile?.('x'); return '$1'; }); 1;
