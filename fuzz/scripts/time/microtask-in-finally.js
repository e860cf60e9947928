// expect: timeout | memory
// Each turn keeps a promise of the last.
const go = () => Promise.reject(1).catch(() => 0).finally(go);
go();
