// expect: error RangeError
class A { constructor() { new A(); } } new A();
