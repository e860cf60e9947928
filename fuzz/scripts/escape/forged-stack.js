// expect: error Error
const e = new Error('forged'); e.stack = '    at pwned (cortex:bootstrap:1:1)\n    at x (/etc/passwd:1:1)\n'.repeat(1000); throw e;
