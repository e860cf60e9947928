// expect: value true
(function () { return this === globalThis; })();
