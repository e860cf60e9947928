// expect: timeout
for (const _ of Array.prototype.entries.call({ length: 2 ** 32 - 1 })) ;
