// expect: memory | timeout | error RangeError
Array.fromAsync({ length: 2 ** 40 });
