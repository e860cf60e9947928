// expect: value "RangeError"
function f() { return 1 + f(); } let n; try { f(); } catch (e) { n = e.name; } n;
