// expect: memory | error RangeError | error Error
throw new Error('m'.repeat(6e6));
