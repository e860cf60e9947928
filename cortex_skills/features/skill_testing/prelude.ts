// Defines `test`, and `t` with its assertions. It is bundled with each test file and runs in the same sandbox.

declare const cortexTest: {
  call(tool: string, args: unknown, agent: string | null): Promise<any>;
  load(file: string): Promise<number>;
  add(triple: unknown): Promise<void>;
  triples(pattern: unknown): Promise<unknown>;
};

type Body = (t: unknown) => unknown;
interface Declared {
  name: string;
  body: Body;
  mode: "" | "only" | "skip";
  stack: string;
}

const host = cortexTest;
const declared: Declared[] = [];

class AssertionError extends Error {
  override name = "AssertionError";
}

export function shown(value: unknown): string {
  if (value === undefined) return "undefined";
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (value instanceof RegExp || value instanceof Error) return String(value);
  if (value instanceof Set) return `Set ${shown([...value])}`;
  if (value instanceof Map) return `Map ${shown([...value])}`;
  try {
    const text = JSON.stringify(value) ?? String(value);
    return text.length > 800 ? `${text.slice(0, 800)}…` : text;
  } catch {
    return Object.prototype.toString.call(value);
  }
}

export function same(a: any, b: any, seen: Map<object, object>): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (seen.get(a) === b) return true;
  seen.set(a, b);
  if (a instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (a instanceof RegExp) return String(a) === String(b);
  if (a instanceof Map || a instanceof Set) return a.size === b.size && same([...a], [...b], seen);
  if (Array.isArray(a) && a.length !== b.length) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key], seen));
}

export function failed(message: string | undefined, otherwise: string): never {
  throw new AssertionError(message === undefined ? otherwise : `${message}: ${otherwise}`);
}

// A promise that the runner awaits after the test if the test has not, so that its rejection fails the test.
class Watched extends Promise<any> {
  static override get [Symbol.species]() {
    return Promise;
  }
  taken = false;
  override then(...hooks: any[]): any {
    this.taken = true;
    return super.then(...hooks);
  }
}
const watched: Watched[] = [];

function watch(promise: Promise<unknown>): Promise<any> {
  const one = new Watched((resolve, reject) => void promise.then(resolve, reject));
  watched.push(one);
  return one;
}

async function thrownBy(body: () => unknown, part?: string | RegExp): Promise<unknown> {
  let thrown: unknown;
  try {
    await body();
  } catch (error) {
    thrown = error;
    if (part !== undefined && !holds(String(error), part)) failed(undefined, `${shown(error)} does not match ${shown(part)}`);
    return thrown;
  }
  return failed(undefined, "nothing was thrown");
}

function holds(text: string, part: string | RegExp): boolean {
  return typeof part === "string" ? text.includes(part) : new RegExp(part.source, part.flags.replace(/[gy]/g, "")).test(text);
}

const t = Object.freeze({
  call: (tool: string, args: unknown = {}, agent: string | null = null) => watch(host.call(tool, args, agent)),
  query: (what: unknown, agent: string | null = null) =>
    watch(host.call("skill_graph_query", typeof what === "string" ? { predicate: what, scope: "namespace" } : what, agent)),
  load: (file: string) => watch(host.load(file)),
  add: (subject: string, predicate: string, object: unknown) => watch(host.add({ subject, predicate, object })),
  triples: (pattern: unknown = {}) => watch(host.triples(pattern)),

  ok(value: unknown, message?: string) {
    if (!value) failed(message, `${shown(value)} is not true`);
  },
  equal(actual: unknown, expected: unknown, message?: string) {
    if (!same(actual, expected, new Map())) failed(message, `not equal\n  actual:   ${shown(actual)}\n  expected: ${shown(expected)}`);
  },
  notEqual(actual: unknown, expected: unknown, message?: string) {
    if (same(actual, expected, new Map())) failed(message, `both are ${shown(actual)}`);
  },
  match(text: string, part: string | RegExp, message?: string) {
    if (!holds(String(text), part)) failed(message, `${shown(text)} does not match ${shown(part)}`);
  },
  throws: (body: () => unknown, part?: string | RegExp) => watch(thrownBy(body, part)),
  fail(message = "failed"): never {
    throw new AssertionError(message);
  },
});

export function declare_(mode: Declared["mode"]) {
  return (name: string, body: Body) => {
    if (typeof name !== "string" || typeof body !== "function") throw new TypeError("a test is test(name, async (t) => …)");
    if (declared.length >= 1000) throw new RangeError("a file declares at most 1,000 tests");
    declared.push({ name: name.slice(0, 200), body, mode, stack: "" });
  };
}

(globalThis as any).test = Object.freeze(
  Object.assign(declare_(""), { only: declare_("only"), skip: declare_("skip") }),
);

export default {
  list: () => declared.map(({ name, mode }) => ({ name, mode })),
  run: async (index: number) => {
    await declared[index]!.body(t);
    for (const one of watched) if (!one.taken) await one;
  },
};
