// expect: timeout
String.raw({ raw: { length: 2 ** 53 - 1 } });
