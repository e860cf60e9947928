// expect: value 1
String.prototype.slice = JSON.stringify = null; console.log({ a: 1 }, 'x'); 1;
