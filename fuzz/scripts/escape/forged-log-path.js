// expect: error ReferenceError | error TypeError
globalThis[':log']('error', 'forged');
