"""WebAssembly instances under wasmtime."""
