// expect: value 1
const s = Symbol({ toString() { return 'x'.repeat(1000); } }); const o = { [s]: s }; s.description; Object.getOwnPropertySymbols(o)[0].toString(); 1;
