// expect: timeout
new Set([1]).isSupersetOf({ size: 1, has: () => true, keys: () => ({ next: () => ({ value: 1 }) }) });
