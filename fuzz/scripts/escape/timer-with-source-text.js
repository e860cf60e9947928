// expect: error ReferenceError
setTimeout('1', 0);
