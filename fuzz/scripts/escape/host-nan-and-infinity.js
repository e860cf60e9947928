// expect: value [null,null,0]
echo(NaN, -Infinity, -0);
