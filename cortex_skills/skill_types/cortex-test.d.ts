/**
 * What the tests of a skill may use: every file `*.test.ts` of its folder, run by `cortex-skills test`.
 *
 *     test("counts what is in stock", async (t) => {
 *       await t.load("stock.test.ttl");
 *       const answer = await t.query({ predicate: "inStock", scope: "namespace" });
 *       t.equal(answer.said, { count: 2 });
 *     });
 *
 * Each test has a graph of its own, in memory, with the skill freshly loaded on it. A test runs in a sandbox with the
 * limits of a skill, and its calls pass the same gate as an agent's. It may import the skill's own files.
 */

/** Declare a test. `only` and `skip` do what they say. */
declare const test: {
  (name: string, body: (t: TestContext) => void | Promise<void>): void;
  only(name: string, body: (t: TestContext) => void | Promise<void>): void;
  skip(name: string, body: (t: TestContext) => void | Promise<void>): void;
};

/** The answer of a tool. */
interface ToolAnswer {
  /** What a model reads. */
  readonly text: string;
  /** What a program reads; for a query `matches`, `total` and more. */
  readonly details: { readonly [key: string]: any };
  readonly isError: boolean;
  /** The stable code of a failure: `permission_denied`, `undeclared_predicate` … */
  readonly code: string | null;
  /** What the skill had to say: its `additionalContext`, cleaned as a model gets it; `null` when that is nothing. */
  readonly said: any;
}

interface TestContext {
  /** Call a tool, as an agent does. A refusal is an answer, too: see `isError` and `code`. */
  call(tool: string, args?: { readonly [key: string]: JsonValue | undefined }, agent?: string): Promise<ToolAnswer>;
  /** `skill_graph_query`, by a predicate or with its arguments. */
  query(what: string | (TriplePattern & { readonly scope?: QueryContext["scope"] }), agent?: string): Promise<ToolAnswer>;

  /** Put an RDF file of the skill's folder into the graph, such as a Turtle file; how many statements it holds. */
  load(file: string): Promise<number>;
  /** Put a statement into the graph, whatever the skill may write. */
  add(subject: string, predicate: string, object: Value): Promise<void>;
  /** What is in the graph, whatever the skill may read. */
  triples(pattern?: TriplePattern): Promise<readonly StoredTriple[]>;

  /** Fail unless the value is true, or like true. */
  ok(value: unknown, message?: string): void;
  /** Fail unless both are the same, members and entries included. */
  equal(actual: unknown, expected: unknown, message?: string): void;
  /** Fail if both are the same. */
  notEqual(actual: unknown, expected: unknown, message?: string): void;
  /** Fail unless the text holds the part, or matches the expression. */
  match(text: string, part: string | RegExp, message?: string): void;
  /** Fail unless the function throws, or its promise is rejected; what it threw. */
  throws(body: () => unknown, part?: string | RegExp): Promise<any>;
  /** Fail. */
  fail(message?: string): never;
}
