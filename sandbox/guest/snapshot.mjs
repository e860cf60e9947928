// Runs esbuild's service until it waits for its next request, having answered some, and writes down how it stands then:
// its memory, its globals, and the functions under way. hatch_build.py makes a module out of it.
//
// Three requests bring everything that is made once into place. Then it goes on until the heap has just grown (by 4 MiB),
// so that a run that starts from here does not have to grow it, which clears 2 MiB of tables. The last request comes
// after that; it prepares what is to come. How it stands then is what is written down. What was prepared is asked for
// once, for a small skill, to see which pages of the memory every run writes to.
//
// Nothing here is random or depends on the time, so that the same input gives the same image.
// Usage: node snapshot.mjs esbuild.wasm VERSION REQUESTS FOLDER OUT
//   REQUESTS: packets to answer, one after another, as many as it takes, one that prepares, and one for what it prepared;
//   FOLDER: the files that they are about; OUT: prefix of .json and .memory, and of .after, the same memory after that run
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [wasmFile, version, requestsFile, folder, out] = process.argv.slice(2);
const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
const requests = packets(readFileSync(requestsFile));
const rehearsal = requests.pop();
const last = requests.pop();
const LEAST = 3;
const NOENT = 44, NOTDIR = 54, BADF = 8, AGAIN = 6, INVAL = 28;
const STDIN = 0, STDERR = 2, ROOT = 3, DIRECTORY = 3, FILE = 4, NONBLOCK = 4;

class Answered extends Error {}

let memory;
let asked = 0;
let settled = 0;
let prepared = false;
let image;
let pending = Buffer.alloc(0);
let nextFd = ROOT + 1;
const open = new Map([[ROOT, { name: '', at: 0 }]]);
const said = { 1: [], 2: [] };

const bytes = () => Buffer.from(memory.buffer);
const u32 = (at, value) => bytes().writeUInt32LE(value, at);
const text = (at, length) => bytes().toString('utf8', at, at + length);
const view = (at, length) => bytes().subarray(at, at + length);

function packets(raw) {
  const all = [];
  for (let at = 0; at < raw.length; at += 4 + raw.readUInt32LE(at)) all.push(raw.subarray(at, at + 4 + raw.readUInt32LE(at)));
  return all;
}

function strings(list, pointers, at) {
  for (const [index, item] of list.entries()) {
    u32(pointers + 4 * index, at);
    at += bytes().write(`${item}\0`, at);
  }
  return 0;
}

function sizes(list, count, length) {
  u32(count, list.length);
  u32(length, Buffer.byteLength(list.join('\0')) + (list.length ? 1 : 0));
  return 0;
}

function kindOf(name) {
  return name === '.' || name === '' ? DIRECTORY : files.has(name) ? FILE : undefined;
}

function describe(name, at) {
  const kind = kindOf(name);
  if (kind === undefined) return NOENT;
  view(at, 64).fill(0);
  bytes()[at + 8] = 1 + [...files.keys()].indexOf(name) + 1;
  bytes()[at + 16] = kind;
  u32(at + 32, files.get(name)?.length ?? 0);
  return 0;
}

function fill(vectors, count, from) {
  let done = 0;
  for (let i = 0; i < count; i++) {
    const piece = from.subarray(done, done + bytes().readUInt32LE(vectors + 8 * i + 4));
    view(bytes().readUInt32LE(vectors + 8 * i), piece.length).set(piece);
    done += piece.length;
  }
  return done;
}

const args = ['esbuild', `--service=${version}`];
// Go's profile of its memory, which nobody reads, walks the stack every 512 KiB.
const environment = ['PWD=/', 'GOGC=400', 'GODEBUG=memprofilerate=0'];

const world = {
  sched_yield: () => 0,
  args_get: (pointers, at) => strings(args, pointers, at),
  args_sizes_get: (count, length) => sizes(args, count, length),
  environ_get: (pointers, at) => strings(environment, pointers, at),
  environ_sizes_get: (count, length) => sizes(environment, count, length),
  clock_time_get(_clock, _precision, at) {
    bytes().writeBigUInt64LE(1n, at);
    return 0;
  },
  random_get(at, length) {
    view(at, length).forEach((_, index, array) => (array[index] = (index * 151 + 43) & 255));
    return 0;
  },
  fd_prestat_get(fd, at) {
    if (fd !== ROOT) return BADF;
    u32(at, 0);
    u32(at + 4, 1);
    return 0;
  },
  fd_prestat_dir_name(_fd, at) {
    bytes().write('/', at);
    return 0;
  },
  fd_fdstat_set_flags: () => 0,
  fd_fdstat_get(fd, at) {
    if (fd > STDERR && !open.has(fd)) return BADF;
    view(at, 8).fill(0);
    view(at + 8, 16).fill(255);
    bytes()[at] = fd > STDERR ? kindOf(open.get(fd).name) : FILE;
    bytes().writeUInt16LE(fd > STDERR ? 0 : NONBLOCK, at + 2);
    return 0;
  },
  fd_filestat_get: (fd, at) => describe(open.get(fd).name, at),
  path_filestat_get: (_fd, _flags, path, length, at) => describe(text(path, length), at),
  path_readlink: () => INVAL,
  path_open(_fd, _lookup, path, length, flags, _rights, _inherited, _fdflags, at) {
    const kind = kindOf(text(path, length));
    if (kind === undefined) return NOENT;
    if (flags & 2 && kind !== DIRECTORY) return NOTDIR;
    open.set(nextFd, { name: text(path, length), at: 0 });
    u32(at, nextFd++);
    return 0;
  },
  fd_close(fd) {
    open.delete(fd);
    return 0;
  },
  fd_readdir(_fd, at, length, cookie, used) {
    const entries = [...files.keys()].slice(Number(cookie)).map((name, index) => {
      const entry = Buffer.alloc(24 + name.length);
      entry.writeBigUInt64LE(cookie + BigInt(index + 1), 0);
      entry.writeUInt32LE(name.length, 16);
      entry[20] = FILE;
      entry.write(name, 24);
      return entry;
    });
    const listing = Buffer.concat(entries).subarray(0, length);
    view(at, listing.length).set(listing);
    u32(used, listing.length);
    return 0;
  },
  fd_read(fd, vectors, count, done) {
    if (fd === STDIN && !pending.length) return AGAIN;
    const file = open.get(fd);
    const size = fill(vectors, count, fd === STDIN ? pending : files.get(file.name).subarray(file.at));
    if (fd === STDIN) pending = pending.subarray(size);
    else file.at += size;
    u32(done, size);
    return 0;
  },
  fd_write(fd, vectors, count, done) {
    let size = 0;
    for (let i = 0; i < count; i++) {
      const length = bytes().readUInt32LE(vectors + 8 * i + 4);
      said[fd].push(Buffer.from(view(bytes().readUInt32LE(vectors + 8 * i), length)));
      size += length;
    }
    u32(done, size);
    if (image) throw new Answered(); // a run ends here
    return 0;
  },
  // Called when nothing is left to do but wait for input: the next request, or the end of this.
  poll_oneoff(subscriptions, events, count, done) {
    if (prepared) {
      image = taken();
      files.set('skill.ts', files.get('lib.ts'));
    }
    if (asked === LEAST) settled = memory.buffer.byteLength;
    prepared ||= asked > LEAST && memory.buffer.byteLength > settled;
    if (!prepared && asked === requests.length) throw new Error('the heap never grew');
    pending = image ? rehearsal : prepared ? last : requests[asked];
    asked++;
    let ready = 0;
    for (let i = 0; i < count; i++) {
      const subscription = view(subscriptions + 48 * i, 48);
      if (subscription[8] !== 1 || subscription.readUInt32LE(16) !== STDIN) continue;
      const event = view(events + 32 * ready++, 32);
      event.fill(0);
      subscription.copy(event, 0, 0, 8);
      event[10] = 1;
    }
    u32(done, ready);
    return 0;
  },
};

// How it stands inside of a call to its host.
function taken() {
  const frames = [...new Error().stack.matchAll(/wasm-function\[(\d+)\]/g)].map((match) => Number(match[1]));
  const state = Object.entries(instance.exports).filter(([name]) => name.startsWith('state:'));
  return { frames, state: state.map(([, value]) => String(value.value)), memory: Buffer.from(bytes()) };
}

const module = new WebAssembly.Module(readFileSync(wasmFile));
const absent = (name) => () => {
  throw new Error(`esbuild called ${name}, which is not here`);
};
const wasi = Object.fromEntries(WebAssembly.Module.imports(module).map(({ name }) => [name, world[name] ?? absent(name)]));
Error.stackTraceLimit = 1000;
const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi });
memory = instance.exports.memory;
try {
  instance.exports._start();
  throw new Error('esbuild ended');
} catch (stop) {
  if (!(stop instanceof Answered)) {
    process.stderr.write(Buffer.concat(said[STDERR]));
    throw stop;
  }
  const answers = Buffer.concat(said[1]);
  // What it says first is its version; an answer to each request must have followed.
  const answered = packets(answers.subarray(4 + answers.readUInt32LE(0))).length;
  if (answered !== asked) throw new Error(`${answered} answers to ${asked} requests`);
  const { memory: content, ...rest } = image;
  writeFileSync(`${out}.memory`, content);
  writeFileSync(`${out}.after`, bytes().subarray(0, content.length));
  writeFileSync(`${out}.json`, JSON.stringify(rest));
}
