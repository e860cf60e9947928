// expect: error RangeError | memory
String.fromCharCode.apply(null, new Array(1e6).fill(65));
