// expect: timeout
RegExp.prototype[Symbol.replace].call({ get flags() { for (;;); } }, 'a', 'b');
