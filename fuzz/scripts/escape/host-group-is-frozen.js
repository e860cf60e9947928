// expect: error TypeError
'use strict'; group.id = () => 'mine';
