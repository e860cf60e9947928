// expect: timeout | memory | error RangeError | error TypeError
Reflect.apply(() => 1, null, { length: 2 ** 32 - 1 });
