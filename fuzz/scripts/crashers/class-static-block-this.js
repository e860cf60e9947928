// expect: value 1 | error TypeError | error ReferenceError
class A { static x = (() => { try { A.y; } catch { } return this; })(); static { delete this.prototype; this.z = this; } } 1;
