// expect: memory
class A { #a = {}; #b = []; } const k = []; for (;;) k.push(new A());
