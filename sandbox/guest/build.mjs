// Strips the types of the guest's bootstrap with the esbuild that the package contains, under Node's WASI.
// Usage: node build.mjs esbuild.wasm bootstrap.ts out.js
import { readFileSync, openSync, closeSync } from 'node:fs';
import { dirname, basename, resolve } from 'node:path';
import { WASI } from 'node:wasi';

const [wasmFile, source, target] = process.argv.slice(2).map((path) => resolve(path));
const stdout = openSync(target, 'w');
const wasi = new WASI({
  version: 'preview1',
  args: ['esbuild', basename(source), '--target=es2023', '--charset=utf8', '--log-level=warning'],
  env: { PWD: '/' },
  preopens: { '/': dirname(source) },
  stdout,
  returnOnExit: true,
});
const module = await WebAssembly.compile(readFileSync(wasmFile));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
const status = wasi.start(instance);
closeSync(stdout);
process.exit(status);
