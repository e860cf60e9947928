// expect: value [1]
Reflect.apply = Reflect.ownKeys = () => 'mine'; globalThis.Reflect = null; echo(1);
