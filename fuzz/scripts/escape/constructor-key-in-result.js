// expect: value {"constructor":{"prototype":{"x":1}}}
({ constructor: { prototype: { x: 1 } } });
