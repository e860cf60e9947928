// expect: timeout
Array.prototype.indexOf.call({ get length() { for (;;); } }, 1);
