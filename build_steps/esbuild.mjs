// Runs esbuild's WebAssembly build under Node's WASI, on the files of one folder.
// Usage: node esbuild.mjs esbuild.wasm FOLDER ARGUMENT…; paths in the arguments are relative to the folder.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { WASI } from 'node:wasi';

const [wasm, folder, ...args] = process.argv.slice(2);
const wasi = new WASI({
  version: 'preview1',
  args: ['esbuild', '--charset=utf8', '--log-level=warning', ...args],
  env: { PWD: '/' },
  preopens: { '/': resolve(folder) },
  returnOnExit: false, // esbuild ends the process: returning through its frames crashes Node 20 after a large bundle
});
const module = await WebAssembly.compile(readFileSync(wasm));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
wasi.start(instance);
