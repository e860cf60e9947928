// The reference of the sandbox rows: quickjs-emscripten under Node.js, with the asyncified build, and values walked
// into and out of the guest handle by handle, as plugins that embed it do. Prints one JSON object: figure → seconds.
import { newAsyncContext } from 'quickjs-emscripten';
import { readFileSync } from 'node:fs';

const { source, rows } = JSON.parse(readFileSync(0, 'utf8'));

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

async function best(repeats, inner, work) {
  await work();
  const times = [];
  for (let i = 0; i < repeats; i++) {
    const start = process.hrtime.bigint();
    for (let j = 0; j < inner; j++) await work();
    times.push(Number(process.hrtime.bigint() - start) / 1e9 / inner);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}

const vm = await load();
const out = {
  sandbox: await best(15, 1, async () => { await load(); }),
  onQuery20: await best(30, 5, () => call(vm, 'onQuery', { results: rows.slice(0, 20) })),
  onQuery1000: await best(15, 1, () => call(vm, 'onQuery', { results: rows })),
};
const calls = 1000;
const many = await best(10, 1, () => call(vm, 'hostCalls', { calls }));
const none = await best(10, 1, () => call(vm, 'hostCalls', { calls: 0 }));
out.hostCall = (many - none) / calls;
console.log(JSON.stringify(out));
process.exit(0);
