// expect: timeout
class A { static { for (;;); } }
