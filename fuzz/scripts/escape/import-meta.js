// expect: value []
// as: module
export default { run: () => Reflect.ownKeys(import.meta).filter((k) => typeof import.meta[k] === 'function') };
