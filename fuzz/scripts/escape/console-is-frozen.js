// expect: error TypeError
'use strict'; console.log = () => 0;
