// expect: error RangeError
// One small object, many times over: a text of a megabyte that would be 190,000 dictionaries.
new Array(47000).fill({ '': { '': { '': { '': 0 } } } });
