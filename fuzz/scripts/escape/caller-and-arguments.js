// expect: error TypeError
'use strict'; (function f() { return f.caller; })();
