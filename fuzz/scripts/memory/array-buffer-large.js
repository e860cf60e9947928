// expect: memory | error RangeError
new ArrayBuffer(2 ** 32);
