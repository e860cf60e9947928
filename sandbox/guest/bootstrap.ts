// The guest's side of the border between host and guest. Runs once, when the image is baked; every sandbox contains it.
//
// Rules kept here:
// - only strings cross the border: JSON, or '!' and the JSON of an error; JSON of the host is already parsed here;
// - everything needed later is captured at the start, so that a skill that tampers with prototypes or globals affects
//   only itself; everything exposed is frozen;
// - a function that the host calls does not throw: it returns a failure.
//
// The value of this script is the array of functions that the host calls, in the order of `ENTRIES` in image.py.

declare const __host: (text: string) => string;

(() => {
  'use strict';

  type Failure = string;
  type HostFunction = (...args: unknown[]) => unknown;

  const global = globalThis as Record<string, any>;
  const hostCall = __host;
  const { parse, stringify } = JSON;
  const { apply, ownKeys, deleteProperty } = Reflect;
  const { freeze, defineProperty, getPrototypeOf, setPrototypeOf } = Object;
  const { isArray } = Array;
  const NativeMap = Map;
  const { get: mapGet, set: mapSet } = Map.prototype;
  const NativePromise = Promise;
  const NativeError = Error;
  const NativeTypeError = TypeError;
  const then = Promise.prototype.then;
  const slice = String.prototype.slice;
  const sliceArray = Array.prototype.slice;
  const trunc = Math.trunc;
  const ObjectPrototype = Object.prototype;
  const FunctionPrototype = Function.prototype;
  const text = String;

  const MAX_MESSAGE = 4096;
  const MAX_STACK_TEXT = 16384;
  const MAX_LOG_TEXT = 8192;

  for (const name of ['__host', 'eval', 'Atomics', 'SharedArrayBuffer', 'WeakRef', 'FinalizationRegistry', 'performance',
    'queueMicrotask', 'navigator', 'gc', 'print', 'scriptArgs', 'atob', 'btoa', 'DOMException', 'escape', 'unescape']) {
    deleteProperty(global, name);
  }

  // Call sites would give access to the functions of this script, and so to arbitrary calls of the host.
  deleteProperty(NativeError, 'prepareStackTrace');

  const clip = (value: string, length: number): string => apply(slice, value, [0, length]) as string;

  // Reading a thrown value may run code of the skill; whatever it does, this returns a string.
  const read = (read: () => unknown, otherwise: string, length: number): string => {
    try {
      const value = read();
      return value === undefined || value === null ? otherwise : clip(text(value), length);
    } catch {
      return otherwise;
    }
  };

  const describe = (thrown: any): string => {
    const isObject = (typeof thrown === 'object' && thrown !== null) || typeof thrown === 'function';
    const isError = isObject && read(() => thrown instanceof NativeError, 'false', 5) === 'true';
    if (isError) {
      return stringify({
        __proto__: null,
        name: read(() => thrown.name, 'Error', 100),
        message: read(() => thrown.message, '', MAX_MESSAGE),
        stack: read(() => thrown.stack, '', MAX_STACK_TEXT),
      });
    }
    // A primitive runs no code: a failure here means out of memory, and is reported as that.
    const shown = isObject ? read(() => stringify(thrown), 'an object', MAX_MESSAGE) : clip(text(thrown), MAX_MESSAGE);
    return stringify({ __proto__: null, name: 'Thrown', message: shown, stack: '' });
  };

  const failure = (thrown: unknown): Failure => '!' + describe(thrown);

  // A list shared by the host: its items are returned as their positions, found by identity. Items returned in their
  // original order are found without a lookup.
  type Shared = { key: string; items: unknown[]; places?: Map<unknown, number> };

  const share = (argument: any, key: string): Shared | undefined => {
    const list = argument?.[key];
    return isArray(list) ? ({ __proto__: null, key, items: apply(sliceArray, list, []) } as any) : undefined;
  };

  const placeOf = (item: unknown, shared: Shared): number | undefined => {
    if (!shared.places) {
      shared.places = new NativeMap();
      for (let i = 0; i < shared.items.length; i++) apply(mapSet, shared.places, [shared.items[i], i]);
    }
    return apply(mapGet, shared.places, [item]) as number | undefined;
  };

  // Instead of positions: the whole list, in its order.
  const WHOLE = freeze([-1]);

  const areSame = (list: unknown[], items: unknown[]): boolean => {
    if (list.length !== items.length) return false;
    for (let i = 0; i < items.length; i++) if (list[i] !== items[i]) return false;
    return true;
  };

  const withPlaces = (value: any, shared: Shared): unknown => {
    const list = typeof value === 'object' && value !== null ? value[shared.key] : undefined;
    if (!isArray(list)) return value;
    const { items } = shared;
    if (areSame(list, items)) return { ...value, [shared.key]: WHOLE };
    const places: unknown[] = [];
    for (let i = 0, next = 0; i < list.length; i++) {
      const item = list[i];
      while (next < items.length && items[next] !== item) next++;
      places[i] = next < items.length ? next++ : placeOf(item, shared) ?? [item];
    }
    return { ...value, [shared.key]: places };
  };

  const encode = (value: unknown, shared?: Shared): string => {
    try {
      return stringify(shared ? withPlaces(value, shared) : value) ?? 'null';
    } catch (error) {
      return failure(error);
    }
  };

  // --- results and promises

  let serial = 0;
  let outcome: string | undefined;

  const settle = (value: any, shared?: Shared): string | undefined => {
    try {
      const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
      if (!isObject || typeof value.then !== 'function') return encode(value, shared);
      const mine = ++serial;
      outcome = undefined;
      const promise = new NativePromise((resolve) => resolve(value));
      apply(then, promise, [
        (result: unknown) => { if (mine === serial) outcome = encode(result, shared); },
        (thrown: unknown) => { if (mine === serial) outcome = failure(thrown); },
      ]);
      return undefined;
    } catch (error) {
      return failure(error);
    }
  };

  const takeOutcome = (): string | undefined => {
    const answer = outcome;
    outcome = undefined;
    serial++;
    return answer;
  };

  // --- the module whose default export is called

  let target: any;

  // The answer when none can be made: what the engine throws when it has no memory left for an error.
  const NO_ANSWER: Failure = '!{"name":"Thrown","message":"null","stack":""}';

  // `evaluated` is the promise of the module's evaluation; without a `namespace` its value is the namespace. The answer
  // describes the default export.
  const adopt = (evaluated: Promise<any>, namespace?: any): undefined => {
    const mine = ++serial;
    outcome = undefined;
    apply(then, evaluated, [
      (module: any) => {
        if (mine !== serial) return;
        target = (namespace ?? module).default;
        outcome = NO_ANSWER;
        outcome = inspect();
      },
      (thrown: unknown) => { if (mine === serial) outcome = failure(thrown); },
    ]);
    return undefined;
  };

  const inspect = (): string => {
    try {
      const isObject = (typeof target === 'object' && target !== null) || typeof target === 'function';
      const functions = setPrototypeOf([], null) as string[];
      const values: Record<string, unknown> = { __proto__: null } as any;
      for (let at = target, depth = 0; isObject && at && depth < 4; at = getPrototypeOf(at), depth++) {
        if (at === ObjectPrototype || at === FunctionPrototype) break;
        const keys = ownKeys(at);
        for (let i = 0; i < keys.length && i < 256; i++) {
          const key = keys[i];
          if (typeof key !== 'string' || key === 'constructor' || key === '__proto__') continue;
          const value = target[key];
          if (typeof value === 'function') functions[functions.length] = key;
          else values[key] = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
        }
      }
      return stringify({ __proto__: null, type: target === null ? 'null' : typeof target, functions, values });
    } catch (error) {
      return failure(error);
    }
  };

  // Members that the first argument of a call has beside its data: the logger and the groups of host functions, under
  // the names of the globals. They are not enumerable, so that the argument is still the data of the call.
  const members: [string, unknown][] = setPrototypeOf([], null);

  const addMembers = (argument: any): void => {
    if (typeof argument !== 'object' || argument === null) return;
    for (let i = 0; i < members.length; i++) {
      const name = members[i]![0];
      if (!(name in argument)) defineProperty(argument, name, { __proto__: null, value: members[i]![1] } as any);
    }
  };

  const call = (wanted: [string, any[], string | null]): string | undefined => {
    try {
      const name = wanted[0], args = wanted[1], key = wanted[2];
      const hook = target?.[name];
      if (typeof hook !== 'function') throw new NativeTypeError(`the default export has no function "${name}"`);
      addMembers(args[0]);
      const shared = key === null ? undefined : share(args[0], key);
      return settle(apply(hook, target, args), shared);
    } catch (error) {
      return failure(error);
    }
  };

  // --- host functions

  const invoke = (path: string, args: unknown[]): unknown => {
    const answer = hostCall(path + '\n' + stringify(setPrototypeOf(args, null)));
    if (answer[0] !== '!') return parse(answer);
    const described = parse(apply(slice, answer, [1]) as string);
    const error = new NativeError(described.message);
    defineProperty(error, 'name', { value: described.name, configurable: true, writable: true });
    if (described.code) defineProperty(error, 'code', { value: described.code, enumerable: true });
    if (described.hint) defineProperty(error, 'hint', { value: described.hint, enumerable: true });
    throw error;
  };

  const offer = (path: string, name: string, promised: boolean): HostFunction => {
    const offered: HostFunction = promised
      ? (...args) => new NativePromise((resolve) => resolve(invoke(path, args)))
      : (...args) => invoke(path, args);
    defineProperty(offered, 'name', { value: name });
    return freeze(offered);
  };

  const expose = (name: string, value: unknown): void => {
    defineProperty(global, name, { value, writable: false, configurable: false, enumerable: false });
  };

  const install = (list: [string, string, string, boolean][]): string => {
    try {
      const groups: Record<string, Record<string, HostFunction>> = { __proto__: null } as any;
      for (let i = 0; i < list.length; i++) {
        const path = list[i]![0], group = list[i]![1], name = list[i]![2], promised = list[i]![3];
        const offered = offer(path, name, promised);
        if (group === '') expose(name, offered);
        else (groups[group] ??= { __proto__: null } as any)[name] = offered;
      }
      const names = ownKeys(groups) as string[];
      for (let i = 0; i < names.length; i++) {
        const name = names[i]!, group = freeze(groups[name]);
        expose(name, group);
        members[members.length] = [name, group];
      }
      return 'null';
    } catch (error) {
      return failure(error);
    }
  };

  // --- logging and Math.random

  const show = (value: unknown): string => {
    if (typeof value === 'string') return value;
    if (value instanceof NativeError) return read(() => `${value.name}: ${value.message}\n${value.stack}`, 'an error', MAX_LOG_TEXT);
    if (typeof value === 'object') return read(() => stringify(value), 'an object', MAX_LOG_TEXT);
    return read(() => text(value), typeof value, MAX_LOG_TEXT);
  };

  const logAt = (level: string): HostFunction => freeze((...args: unknown[]) => {
    let line = '';
    for (let i = 0; i < args.length && line.length < MAX_LOG_TEXT; i++) line += (i ? ' ' : '') + show(args[i]);
    hostCall(`:log\n${level}\n${clip(line, MAX_LOG_TEXT)}`);
  });
  const info = logAt('info');
  const logger = freeze({ debug: logAt('debug'), log: info, info, warn: logAt('warning'), error: logAt('error') });
  expose('logger', logger);
  members[members.length] = ['logger', logger];
  expose('console', logger);

  // xoshiro128**, seeded at the first use: a seed in the image would be the same in every sandbox.
  let seeded: number[] | undefined;
  const next = (state: number[]): number => {
    const a = state[1]! * 5;
    const result = ((a << 7) | (a >>> 25)) * 9;
    const t = state[1]! << 9;
    state[2]! ^= state[0]!;
    state[3]! ^= state[1]!;
    state[1]! ^= state[2]!;
    state[0]! ^= state[3]!;
    state[2]! ^= t;
    state[3] = (state[3]! << 11) | (state[3]! >>> 21);
    return result >>> 0;
  };
  defineProperty(Math, 'random', {
    value: (): number => {
      seeded ??= parse(hostCall(':seed\n')) as number[];
      return (trunc(next(seeded) / 64) * 134217728 + trunc(next(seeded) / 32)) / 9007199254740992;
    },
    writable: true,
    configurable: true,
  });

  return [call, (value: unknown) => settle(value), takeOutcome, adopt, install, describe];
})();
