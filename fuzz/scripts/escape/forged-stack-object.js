// expect: error Error | error TypeError
const e = new Error('forged'); e.stack = { toString: () => '    at a (b:999999999:999999999)' }; throw e;
