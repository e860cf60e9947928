// expect: error RangeError
class A { a = new A(); } new A();
