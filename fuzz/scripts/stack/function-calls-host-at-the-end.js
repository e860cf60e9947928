// expect: value true
let n = 0; function f() { try { f(); } catch (e) { try { echo(1); n++; } catch { } throw e; } } try { f(); } catch { } n > 0;
