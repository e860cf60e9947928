// expect: memory | timeout | error InternalError
const k = []; function more() { try { for (;;) k.push({ k }); } catch (e) { k.push(e); return more(); } } more();
