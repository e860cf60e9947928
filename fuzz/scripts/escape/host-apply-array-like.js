// expect: value [1,null]
Reflect.apply(echo, null, { length: 2, 0: 1 });
