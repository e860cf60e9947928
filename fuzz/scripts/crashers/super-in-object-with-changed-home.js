// expect: value 1 | error TypeError
const o = { __proto__: { f() { return 1; } }, f() { Object.setPrototypeOf(o, null); return super.f?.() ?? 1; } }; o.f();
