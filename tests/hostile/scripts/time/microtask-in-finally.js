// expect: timeout
const go = () => Promise.reject(1).catch(() => 0).finally(go);
go();
