// expect: error RangeError
({ set a(v) { this.a = v; } }).a = 1;
