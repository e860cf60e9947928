// expect: timeout
// Reported against the engine: the scan never asked whether it should stop.
Array.prototype.indexOf.call({ length: 4294967295 }, 99);
