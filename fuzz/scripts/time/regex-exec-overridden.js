// expect: timeout | memory
const r = /a/g; r.exec = () => ({ index: 0, length: 1, 0: 'a' });
'aaa'.replace(r, 'b');
