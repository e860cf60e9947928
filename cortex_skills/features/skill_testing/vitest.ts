// `describe`, `it` and `expect` for tests in the form of vitest. An import of "vitest" in a test resolves to this file.
//
// Rules kept here:
// - each test runs in its own sandbox, so that hooks of `beforeAll` run before each test as well;
// - what is not offered (mocks of modules, timers, snapshots) is missing and fails the test that uses it.

import { declare_ as declareTest, failed, same, shown } from "./cortex-test-prelude.ts";

type Hook = () => unknown;
type Mode = "" | "only" | "skip";
interface Group {
  readonly name: string;
  readonly mode: Mode;
  readonly before: Hook[];
  readonly after: Hook[];
}

// The groups around what is being declared, the file itself first.
let groups: Group[] = [{ name: "", mode: "", before: [], after: [] }];

function declare_(mode: Mode) {
  return (name: unknown, ...rest: unknown[]) => {
    const body = rest.find((item) => typeof item === "function") as Hook | undefined;
    const around = groups;
    const skipped = body === undefined || around.some((group) => group.mode === "skip");
    const only = around.some((group) => group.mode === "only");
    declareTest(skipped ? "skip" : mode === "" && only ? "only" : mode)(
      [...around.slice(1).map((group) => group.name), String(name)].join(" > "),
      async () => {
        for (const group of around) for (const hook of group.before) await hook();
        try {
          await body!();
        } finally {
          for (const group of [...around].reverse()) for (const hook of group.after) await hook();
        }
      },
    );
  };
}

function eachOf(declare: (name: string, body: () => unknown) => void) {
  return (rows: readonly unknown[]) => (name: string, body: (...row: any[]) => unknown) => {
    for (const [index, row] of rows.entries()) {
      const values = Array.isArray(row) ? row : [row];
      let next = 0;
      const label = name
        .replace(/%[sdifjo#]/g, (sign) => (sign === "%#" ? String(index) : shown(values[next++]).replace(/^"|"$/g, "")))
        .replace(/\$(\w+)/g, (sign, key) => (row !== null && typeof row === "object" && key in row ? shown((row as any)[key]) : sign));
      declare(label, () => body(...values));
    }
  };
}

function group(mode: Mode) {
  return (name: unknown, body: () => unknown) => {
    const around = groups;
    groups = [...around, { name: String(name), mode, before: [], after: [] }];
    try {
      body();
    } finally {
      groups = around;
    }
  };
}

const innermost = () => groups[groups.length - 1]!;

const modes = <T>(make: (mode: Mode) => T) => {
  const plain = make("") as any;
  for (const mode of ["only", "skip"] as const) plain[mode] = make(mode);
  plain.todo = (name: unknown) => (make("skip") as any)(name, () => {});
  plain.each = eachOf(plain);
  return plain;
};

export const it: any = modes(declare_);
export const test: any = it;
export const describe: any = modes(group);
export const suite: any = describe;
export const beforeEach = (hook: Hook) => void innermost().before.push(hook);
export const afterEach = (hook: Hook) => void innermost().after.unshift(hook);
export const beforeAll = beforeEach;
export const afterAll = afterEach;

// --- values that match by a rule

class Matcher {
  constructor(
    readonly name: string,
    readonly matches: (value: any) => boolean,
  ) {}
  toJSON() {
    return this.name;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Whether `actual` is equal to `expected`; with `part`, whether it has at least the members of `expected`. */
function equal(actual: any, expected: any, part: boolean): boolean {
  if (expected instanceof Matcher) return expected.matches(actual);
  const plain = isObject(expected) && (Array.isArray(expected) || Object.getPrototypeOf(expected) === Object.prototype);
  if (!plain || !isObject(actual) || Array.isArray(actual) !== Array.isArray(expected)) return same(actual, expected, new Map());
  if (Array.isArray(expected) && (actual as any).length !== expected.length) return false;
  const has = (value: any) => Object.keys(value).filter((key) => value[key] !== undefined);
  if (!part && has(actual).length !== has(expected).length) return false;
  return has(expected).every((key) => Object.hasOwn(actual, key) && equal(actual[key], (expected as any)[key], part));
}

const primitives = new Map<unknown, string>([[String, "string"], [Number, "number"], [Boolean, "boolean"], [Function, "function"]]);
const isA = (value: any, type: any) => (primitives.has(type) ? typeof value === primitives.get(type) : value instanceof type);
const contains = (whole: any, part: unknown) =>
  typeof whole === "string" ? whole.includes(String(part)) : [...whole].some((item) => Object.is(item, part));
const at = (value: any, path: string | readonly string[]) => {
  for (const key of typeof path === "string" ? path.replace(/\[(\w+)\]/g, ".$1").split(".") : path) {
    if (value === null || value === undefined || !(key in Object(value))) return { found: false, value: undefined };
    value = value[key];
  }
  return { found: true, value };
};
const throwsLike = (thrown: unknown, wanted: any): boolean => {
  if (wanted === undefined) return true;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  if (typeof wanted === "string") return text.includes(wanted);
  if (wanted instanceof RegExp) return wanted.test(text);
  if (typeof wanted === "function") return thrown instanceof wanted;
  return text === (wanted as Error).message;
};

// --- expect

type Check = (actual: any, ...wanted: any[]) => boolean;

const checks: Record<string, Check> = {
  toBe: (actual, wanted) => Object.is(actual, wanted),
  toEqual: (actual, wanted) => equal(actual, wanted, false),
  toStrictEqual: (actual, wanted) => same(actual, wanted, new Map()),
  toMatchObject: (actual, wanted) => equal(actual, wanted, true),
  toContain: (actual, part) => contains(actual, part),
  toContainEqual: (actual, part) => [...actual].some((item) => equal(item, part, false)),
  toHaveLength: (actual, length) => actual.length === length,
  toHaveProperty: (actual, path, ...value) => {
    const found = at(actual, path);
    return found.found && (value.length === 0 || equal(found.value, value[0], false));
  },
  toBeDefined: (actual) => actual !== undefined,
  toBeUndefined: (actual) => actual === undefined,
  toBeNull: (actual) => actual === null,
  toBeTruthy: (actual) => Boolean(actual),
  toBeFalsy: (actual) => !actual,
  toBeNaN: (actual) => Number.isNaN(actual),
  toBeGreaterThan: (actual, bound) => actual > bound,
  toBeGreaterThanOrEqual: (actual, bound) => actual >= bound,
  toBeLessThan: (actual, bound) => actual < bound,
  toBeLessThanOrEqual: (actual, bound) => actual <= bound,
  toBeCloseTo: (actual, wanted, digits = 2) => Math.abs(actual - wanted) < 10 ** -digits / 2,
  toBeInstanceOf: (actual, type) => actual instanceof type,
  toBeTypeOf: (actual, type) => typeof actual === type,
  toBeOneOf: (actual, values) => [...values].some((value) => equal(actual, value, false)),
  toMatch: (actual, part) => (typeof part === "string" ? actual.includes(part) : new RegExp(part.source, part.flags.replace(/[gy]/g, "")).test(actual)),
  toSatisfy: (actual, holds) => Boolean(holds(actual)),
  toThrow: (actual, wanted) => {
    try {
      actual();
    } catch (thrown) {
      return throwsLike(thrown, wanted);
    }
    return false;
  },
  toHaveBeenCalled: (actual) => actual.mock.calls.length > 0,
  toHaveBeenCalledOnce: (actual) => actual.mock.calls.length === 1,
  toHaveBeenCalledTimes: (actual, count) => actual.mock.calls.length === count,
  toHaveBeenCalledWith: (actual, ...wanted) => actual.mock.calls.some((call: unknown) => equal(call, wanted, false)),
};
checks.toThrowError = checks.toThrow!;

const run = (name: string, holds: boolean, negated: boolean, actual: unknown, wanted: unknown[], message?: string) => {
  if (holds !== negated) return;
  const what = [`expected ${shown(actual)}`, negated ? "not " : "", name, ...wanted.map(shown)];
  failed(message, `${what[0]} ${what[1]}${what.slice(2).join(" ")}`);
};

function expectation(actual: unknown, negated: boolean, message?: string): any {
  const made: any = {};
  for (const [name, check] of Object.entries(checks)) {
    made[name] = (...wanted: unknown[]) => run(name, check(actual, ...wanted), negated, actual, wanted, message);
  }
  return made;
}

function settled(promise: any, kind: "resolves" | "rejects", negated: boolean, message?: string): any {
  const made: any = {};
  for (const [name, check] of Object.entries(checks)) {
    made[name] = async (...wanted: unknown[]) => {
      const outcome = await Promise.resolve(typeof promise === "function" ? promise() : promise).then(
        (value) => ({ kind: "resolves", value }),
        (value) => ({ kind: "rejects", value }),
      );
      if (outcome.kind !== kind) failed(message, `the promise ${outcome.kind} with ${shown(outcome.value)}`);
      const holds = kind === "rejects" && name.startsWith("toThrow") ? throwsLike(outcome.value, wanted[0]) : check(outcome.value, ...wanted);
      run(name, holds, negated, outcome.value, wanted, message);
    };
  }
  return made;
}

export const expect: any = Object.assign(
  (actual: unknown, message?: string) => ({
    ...expectation(actual, false, message),
    not: expectation(actual, true, message),
    resolves: { ...settled(actual, "resolves", false, message), not: settled(actual, "resolves", true, message) },
    rejects: { ...settled(actual, "rejects", false, message), not: settled(actual, "rejects", true, message) },
  }),
  {
    any: (type: any) => new Matcher("any value of a type", (value) => isA(value, type)),
    anything: () => new Matcher("anything", (value) => value !== null && value !== undefined),
    objectContaining: (part: unknown) => new Matcher(`an object containing ${shown(part)}`, (value) => equal(value, part, true)),
    arrayContaining: (items: unknown[]) =>
      new Matcher(`an array containing ${shown(items)}`, (value) => Array.isArray(value) && items.every((item) => value.some((own) => equal(own, item, false)))),
    stringContaining: (part: string) => new Matcher(`a text containing ${shown(part)}`, (value) => typeof value === "string" && value.includes(part)),
    stringMatching: (part: string | RegExp) => new Matcher(`a text matching ${part}`, (value) => typeof value === "string" && new RegExp(part).test(value)),
    fail: (message = "failed") => failed(undefined, message),
  },
);

// --- functions that record their calls

function recorder(body: (...args: any[]) => unknown = () => undefined): any {
  const mock = { calls: [] as unknown[][], results: [] as { type: string; value: unknown }[] };
  let current = body;
  const once: ((...args: any[]) => unknown)[] = [];
  const made: any = function (this: unknown, ...args: unknown[]) {
    mock.calls.push(args);
    try {
      const value = (once.shift() ?? current).apply(this, args);
      mock.results.push({ type: "return", value });
      return value;
    } catch (thrown) {
      mock.results.push({ type: "throw", value: thrown });
      throw thrown;
    }
  };
  const chain = (change: (value: any) => void) => (value?: any) => (change(value), made);
  return Object.assign(made, {
    mock,
    mockImplementation: chain((next) => void (current = next)),
    mockImplementationOnce: chain((next) => void once.push(next)),
    mockReturnValue: chain((value) => void (current = () => value)),
    mockReturnValueOnce: chain((value) => void once.push(() => value)),
    mockResolvedValue: chain((value) => void (current = async () => value)),
    mockResolvedValueOnce: chain((value) => void once.push(async () => value)),
    mockRejectedValue: chain((value) => void (current = async () => Promise.reject(value))),
    mockRejectedValueOnce: chain((value) => void once.push(async () => Promise.reject(value))),
    mockClear: chain(() => void (mock.calls.splice(0), mock.results.splice(0))),
    mockReset: chain(() => void (mock.calls.splice(0), mock.results.splice(0), (current = () => undefined))),
  });
}

export const vi: any = Object.freeze({ fn: recorder });
