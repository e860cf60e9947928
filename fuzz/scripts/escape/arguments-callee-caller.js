// expect: value "undefined" | error TypeError
typeof (function () { return arguments.callee.caller; })();
