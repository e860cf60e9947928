// expect: timeout | memory | error RangeError
new Uint8Array({ length: 2 ** 50 });
