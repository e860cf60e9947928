// expect: timeout | error RangeError
new Uint8Array(8).set({ length: 2 ** 53 - 1 });
