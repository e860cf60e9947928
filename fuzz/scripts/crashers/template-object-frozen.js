// expect: value 1 | error TypeError
function t(s) { return s; } const a = t`x${1}y`; try { a.push(1); } catch { } try { a.raw[0] = 2; } catch { } 1;
