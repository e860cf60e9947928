// expect: error ReferenceError
require('fs');
