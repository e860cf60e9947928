// expect: value 1 | error TypeError
const a = [1, 2, 3]; Object.defineProperty(a, 'length', { writable: false }); try { a.pop(); } catch { } try { a.push(1); } catch { } 1;
