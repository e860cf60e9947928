// expect: value 3000
// Reported against the engine: the digits of a long BigInt were written past their buffer.
BigInt('1234567890' + '7'.repeat(2990)).toString().length;
