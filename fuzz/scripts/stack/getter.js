// expect: error RangeError
({ get a() { return this.a; } }).a;
