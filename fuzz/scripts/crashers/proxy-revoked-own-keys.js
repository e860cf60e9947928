// expect: error TypeError
const r = Proxy.revocable({}, { ownKeys() { r.revoke(); return ['a']; } }); Object.entries(r.proxy);
