// expect: value 1 | error ReferenceError | error TypeError | error SuppressedError
const s = new DisposableStack(); s.defer(() => s.dispose()); s.defer(() => { throw 1; }); s.defer(() => { throw 2; }); try { s.dispose(); } catch { } 1;
