// expect: memory | error RangeError
new Uint8Array(2 ** 31 - 1);
