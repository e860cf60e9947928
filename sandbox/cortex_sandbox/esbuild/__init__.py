"""esbuild as a WebAssembly guest: bundling and transpiling."""
