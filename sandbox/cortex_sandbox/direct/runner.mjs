// Node.js runs this file before the skill: it runs the bootstrap of the sandbox, with the host on four pipes.
//
// Rules kept here:
// - results, errors, host functions and logs are made by the bootstrap of the sandbox, so that they are the same here;
// - the host is called only while it waits for this process (loading, a call); otherwise a host function throws an error;
// - when the host ends, so does this process, even in the middle of a loop: a worker thread watches the host;
// - neither workers nor child processes of the skill run this file again.
//
// A message is one letter, the length of its text (4 bytes, big-endian), and the text.

import { Buffer } from 'node:buffer';
import { getRandomValues } from 'node:crypto';
import { readSync, writeSync } from 'node:fs';
import inspector from 'node:inspector';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers';
import { pathToFileURL } from 'node:url';
import { runInThisContext } from 'node:vm';
import { isMainThread, Worker } from 'node:worker_threads';

const HEAD_BYTES = 5;
const NO_DEBUGGER = 12; // as in process.py
const MAX_LOG_TEXT = 8192;
const FRAME = /^ {4}at (?:(.*) \()?(.+?):(\d+):(\d+)\)?$/;
const INSPECTOR_METHODS = { debug: 'debug', info: 'log', warning: 'warn', error: 'error' };
const NOT_LOADABLE = new Set([
  'ERR_IMPORT_ATTRIBUTE_MISSING',
  'ERR_INVALID_TYPESCRIPT_SYNTAX',
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
]);
const WATCH = `
  const { Socket } = require('node:net');
  const life = new Socket({ fd: require('node:worker_threads').workerData, readable: true, writable: false });
  life.on('error', () => {}).on('close', () => process.kill(-process.pid, 'SIGKILL')).resume();
`;

if (isMainThread) start(...process.argv.splice(2).map(Number));

function start(requests, answers, output, life) {
  process.execArgv = [];
  new Worker(WATCH, { eval: true, workerData: life, execArgv: [] }).unref();

  // --- the pipes

  const readExactly = (length) => {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; ) {
      const count = readSync(answers, bytes, at, length - at, null);
      if (count === 0) process.exit();
      at += count;
    }
    return bytes;
  };
  const receive = () => readExactly(readExactly(HEAD_BYTES).readUInt32BE(1)).toString();

  const send = (kind, text) => {
    const body = Buffer.from(text);
    const message = Buffer.alloc(HEAD_BYTES + body.length, kind);
    message.writeUInt32BE(body.length, 1);
    body.copy(message, HEAD_BYTES);
    for (let at = 0; at < message.length; ) at += writeSync(output, message, at);
  };

  const { parse } = JSON; // the skill may replace it
  const setup = parse(receive());
  if (setup.inspecting && !inspector.url()) process.exit(NO_DEBUGGER); // Node.js itself would continue
  const failure = (name, message, code) => '!' + JSON.stringify({ name, message, stack: '', code });
  const tooLong = (text) => {
    const length = Buffer.byteLength(text);
    if (length <= setup.transferBytes) return undefined;
    return failure('RangeError', `a text of ${length} bytes exceeds the transfer limit of ${setup.transferBytes}`);
  };

  // --- stack traces in the format of the sandbox: the frames of the skill, with paths relative to its folder

  const folder = setup.folder + '/';
  const folderUrl = pathToFileURL(folder).href;
  const shownFile = (file) => {
    if (file.startsWith('node:') || file.startsWith('cortex:') || file === import.meta.url) return undefined;
    if (file.startsWith(folderUrl)) return decodeURI(file.slice(folderUrl.length));
    return file.startsWith(folder) ? file.slice(folder.length) : file;
  };
  const shownFrame = (text) => {
    const [, place, file, line, column] = FRAME.exec(text) ?? [];
    if (file === undefined) return text;
    const shown = shownFile(file);
    if (shown === undefined) return undefined;
    const name = place?.replace(/ \[as [^\]]*\]$/, '').replace(/^(?:async |new )+/, '').replace(/^.*\./, '');
    return name ? `    at ${name} (${shown}:${line}:${column})` : `    at ${shown}:${line}:${column}`;
  };
  const shownStack = (stack) => stack.split('\n').map(shownFrame).filter((text) => text !== undefined).join('\n');
  const shownAnswer = (text) => {
    if (text[0] !== '!') return text;
    const described = JSON.parse(text.slice(1));
    return '!' + JSON.stringify({ ...described, stack: shownStack(described.stack) });
  };

  // --- logs

  const log = (level, text) => {
    if (setup.inspecting) inspector.console[INSPECTOR_METHODS[level]](text);
    const once = text.replace(/^([^\n]+)\n\1(?=\n {4}at )/, '$1'); // a stack of V8 starts with the message
    send('l', `${level}\n${once.includes('\n    at ') ? shownStack(once) : once}`);
  };
  const capture = (stream, level) => {
    let rest = '';
    const flush = () => {
      if (rest) log(level, rest);
      rest = '';
    };
    stream.write = (chunk, encoding, done) => {
      const lines = (rest + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())).split('\n');
      rest = lines.pop();
      for (const line of lines) log(level, line.slice(0, MAX_LOG_TEXT));
      if (rest.length > MAX_LOG_TEXT) flush();
      (typeof encoding === 'function' ? encoding : done)?.();
      return true;
    };
    return flush;
  };
  const flushes = [capture(process.stdout, 'info'), capture(process.stderr, 'warning')];

  // --- the bootstrap, with its one host function

  let waiting = true; // whether the host waits for this process; at the start it waits for the load
  globalThis.__host = (text) => {
    if (text.startsWith(':log\n')) {
      const [, level] = text.split('\n', 2);
      log(level, text.slice(`:log\n${level}\n`.length));
      return 'null';
    }
    if (text.startsWith(':seed\n')) return JSON.stringify(Array.from(getRandomValues(new Int32Array(4))));
    if (!waiting) return failure('HostError', 'host functions work only during a call', 'host_error');
    const refused = tooLong(text);
    if (refused) return refused;
    send('c', text);
    return receive();
  };
  const functions = runInThisContext(setup.bootstrap, { filename: 'cortex:bootstrap' });
  const entry = Object.fromEntries(setup.entries.map((name, at) => [name, functions[at]]));
  entry.install(parse(setup.functions));

  // --- loading and calling

  const answer = (text) => {
    for (const flush of flushes) flush();
    const shown = shownAnswer(text);
    waiting = false;
    send('o', tooLong(shown) ?? shown);
  };
  const answerSettled = () => answer(entry.takeOutcome());
  const whenSettled = (promise, then) => {
    const soon = () => setImmediate(then); // after the bootstrap's reactions
    promise.then(soon, soon);
    return promise;
  };

  // A proxy of the default export that answers when a promise returned by one of its functions has settled.
  const announced = (target) => {
    if (typeof target !== 'function' && (typeof target !== 'object' || target === null)) return target;
    return new Proxy(typeof target === 'function' ? () => {} : {}, {
      get: (_, key) => {
        const value = target[key];
        if (typeof value !== 'function') return value;
        return (...args) => {
          const result = Reflect.apply(value, target, args);
          return typeof result?.then === 'function' ? whenSettled(Promise.resolve(result), answerSettled) : result;
        };
      },
      ownKeys: () => Reflect.ownKeys(target),
      getPrototypeOf: () => Reflect.getPrototypeOf(target),
    });
  };

  // Uncaught errors are logged. Node.js reports a failed load there too, which is an answer instead.
  const uncaught = [];
  const failedLoads = new Set();
  const logUncaught = () => {
    for (const error of uncaught.splice(0)) {
      if (!failedLoads.has(error?.message)) log('error', `Uncaught ${error instanceof Error ? error.stack : String(error)}`);
    }
  };
  let loading = true;
  process.on('uncaughtException', (error) => {
    uncaught.push(error);
    if (!loading) logUncaught();
  });

  const load = (url) => {
    let unloadable = false;
    const module = import(url).then(
      (namespace) => ({ default: announced(namespace.default) }),
      (error) => {
        failedLoads.add(error?.message);
        unloadable = error instanceof SyntaxError || NOT_LOADABLE.has(error?.code);
        throw error;
      },
    );
    entry.adopt(whenSettled(module, () => {
      const outcome = entry.takeOutcome();
      if (unloadable) {
        waiting = false;
        return send('u', shownAnswer(outcome));
      }
      loading = false;
      logUncaught();
      return answer(outcome);
    }));
  };
  const call = (request) => {
    const text = entry.call(parse(request));
    if (text !== undefined) answer(text);
  };

  let received = Buffer.alloc(0);
  const socket = new Socket({ fd: requests, readable: true, writable: false });
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    if (received.length < HEAD_BYTES || received.length < HEAD_BYTES + received.readUInt32BE(1)) return;
    const kind = String.fromCharCode(received[0]);
    const text = received.subarray(HEAD_BYTES).toString();
    received = Buffer.alloc(0);
    waiting = true;
    if (kind === 'l') load(text);
    else call(text);
  });
}
