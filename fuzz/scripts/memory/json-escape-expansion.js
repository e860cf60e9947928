// expect: memory | error RangeError
JSON.stringify('\u0001'.repeat(1.2e6));
