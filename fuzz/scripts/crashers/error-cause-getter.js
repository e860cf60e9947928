// expect: error RangeError
new Error('x', { get cause() { throw new RangeError('cause'); } });
