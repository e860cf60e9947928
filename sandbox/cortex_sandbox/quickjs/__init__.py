"""QuickJS as a WebAssembly guest."""
