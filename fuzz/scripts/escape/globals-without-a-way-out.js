// expect: value []
['fetch', 'XMLHttpRequest', 'WebSocket', 'Worker', 'WebAssembly', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'process', 'require', 'Deno', 'Bun', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'performance', 'navigator', 'gc', 'print', 'load', 'eval'].filter((n) => n in globalThis);
