// expect: value 1 | error TypeError
JSON.parse('[1,2,{"a":3}]', function (k, v, c) { if (k === '0') { this[1] = { evil: 1 }; this.length = 1; } return v; }); 1;
