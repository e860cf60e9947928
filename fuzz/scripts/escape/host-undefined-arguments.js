// expect: value [null,null,null]
echo(undefined, () => 1, Symbol('s'));
