// expect: memory | error SyntaxError | error InternalError
// Reported against the engine: byte code that grows faster than its pattern.
new RegExp('(?:' + 'a{0,65535}'.repeat(50) + '){0,65535}'.repeat(20));
