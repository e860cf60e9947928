// expect: value "undefined"
// From any value up to the root of all objects and back: nothing of the host's is on the way.
const seen = new Set(); const walk = (o) => { if ((typeof o !== 'object' && typeof o !== 'function') || o === null || seen.has(o)) return; seen.add(o); for (const k of Reflect.ownKeys(o)) { const d = Reflect.getOwnPropertyDescriptor(o, k); for (const v of [d.value, d.get, d.set]) walk(v); } walk(Object.getPrototypeOf(o)); };
walk(globalThis); typeof [...seen].find((f) => typeof f === 'function' && /^(hostCall|invoke|settle|takeOutcome|inspect|install|describe)$/.test(f.name));
