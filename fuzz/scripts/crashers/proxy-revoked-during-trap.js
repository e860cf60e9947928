// expect: error TypeError
let r = Proxy.revocable({}, { get() { r.revoke(); return 1; }, has() { r.revoke(); return true; } }); r.proxy.x; r.proxy.x;
