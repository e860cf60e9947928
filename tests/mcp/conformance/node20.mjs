// The suite imports `globSync` of `node:fs`, which Node.js has since version 22, for a report that is not made here.
// With `node --import` this module lets the suite start on Node.js 20 too.
import * as fs from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

const WITH_GLOB = 'export * from "node:fs"; export const globSync = () => [];';
const SUITE = "/@modelcontextprotocol/conformance/";

export async function resolve(specifier, context, next) {
  if (specifier === "fs" && context.parentURL?.includes(SUITE)) {
    return { url: `data:text/javascript,${encodeURIComponent(WITH_GLOB)}`, shortCircuit: true };
  }
  return next(specifier, context);
}

if (isMainThread && !fs.globSync) register(import.meta.url);
