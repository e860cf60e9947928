// The reference of the sandbox rows: quickjs-emscripten under Node.js, the asyncified build, with values converted handle
// by handle, as plugins that embed it do. Reads a line with the skill and its rows, then lines with the name of a figure
// and a number of runs; answers each line with the mean seconds of one run.
import { newAsyncContext } from 'quickjs-emscripten';
import { createInterface } from 'node:readline';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { source, rows } = JSON.parse((await lines.next()).value);

function toGuest(vm, value) {
  if (value === null || value === undefined) return vm.undefined;
  if (typeof value === 'string') return vm.newString(value);
  if (typeof value === 'number') return vm.newNumber(value);
  if (typeof value === 'boolean') return value ? vm.true : vm.false;
  const target = Array.isArray(value) ? vm.newArray() : vm.newObject();
  for (const [key, part] of Object.entries(value)) {
    const handle = toGuest(vm, part);
    vm.setProp(target, Array.isArray(value) ? Number(key) : key, handle);
    handle.dispose();
  }
  return target;
}

async function load() {
  const vm = await newAsyncContext();
  vm.runtime.setMemoryLimit(8 << 20);
  vm.runtime.setMaxStackSize(512 << 10);
  const echo = vm.newAsyncifiedFunction('echo', async (handle) => toGuest(vm, vm.dump(handle)));
  vm.setProp(vm.global, 'echo', echo);
  echo.dispose();
  const skill = vm.unwrapResult(await vm.evalCodeAsync(source.replace('export default', 'globalThis.skill =')));
  skill.dispose();
  return vm;
}

async function call(vm, name, argument) {
  const handle = toGuest(vm, argument);
  vm.setProp(vm.global, 'argument', handle);
  handle.dispose();
  const promise = vm.unwrapResult(await vm.evalCodeAsync(`(async () => skill.${name}(argument))()`));
  const settled = vm.resolvePromise(promise);
  promise.dispose();
  vm.runtime.executePendingJobs();
  const value = vm.unwrapResult(await settled);
  const answer = vm.dump(value);
  value.dispose();
  return answer;
}

const vm = await load();
const twenty = rows.slice(0, 20);
const works = {
  sandbox: load,
  onQuery20: () => call(vm, 'onQuery', { results: twenty }),
  onQuery1000: () => call(vm, 'onQuery', { results: rows }),
  hostCalls1000: () => call(vm, 'hostCalls', { calls: 1000 }),
  hostCalls0: () => call(vm, 'hostCalls', { calls: 0 }),
};
for await (const line of lines) {
  const [name, count] = line.split(' ');
  const start = process.hrtime.bigint();
  for (let i = 0; i < Number(count); i++) await works[name]();
  console.log(Number(process.hrtime.bigint() - start) / 1e9 / Number(count));
}
