// expect: error TypeError
class B { constructor(o) { return o; } } class A extends B { x = 1; } new A(Object.freeze({}));
