// expect: error RangeError
class A extends Array { static get [Symbol.species]() { return new A(1).map(() => 1).constructor; } } new A(1).map(() => 1);
