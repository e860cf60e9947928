// expect: error RangeError
function f() { Reflect.construct(f, [], Array); } f();
