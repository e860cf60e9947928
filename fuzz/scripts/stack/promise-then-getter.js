// expect: value {"then":{}}
// What `then` gives is a promise, not a function: the object is the value.
const o = { get then() { return Promise.resolve(o); } }; Promise.resolve(o);
