// expect: timeout | error TypeError
[].concat({ length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true });
