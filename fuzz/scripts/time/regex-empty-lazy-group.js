// expect: value null
// Reported against the engine: a lazy empty group matched for ever.
new RegExp('()*?a').exec(',');
