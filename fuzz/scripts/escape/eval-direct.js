// expect: error ReferenceError
eval('1');
