// expect: value 1 | error TypeError | error RangeError
// Reported against the engine: reading the prototype of the new object resizes the source.
const b = new ArrayBuffer(10, { maxByteLength: 10 }), source = new Uint8Array(b, 0);
const Evil = new Proxy(function () { }, { get: (t, k, r) => (k === 'prototype' ? (b.resize(0), Uint8Array.prototype) : Reflect.get(t, k, r)) });
Reflect.construct(Uint8Array, [source], Evil); 1;
