// expect: memory
// A guest may call its own failure what it likes: it harms only itself.
const e = new Error('out of memory'); e.name = 'InternalError'; throw e;
