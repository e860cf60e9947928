// expect: error Error
globalThis.String = () => 'mine'; throw new Error('seen');
