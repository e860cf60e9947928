/**
 * The API of tests of a skill: the files `*.test.ts` in its folder, run by `cortex-skills test`.
 *
 *     test("counts what is in stock", async (t) => {
 *       await t.load("stock.test.ttl");
 *       const answer = await t.query({ predicate: "inStock", scope: "namespace" });
 *       t.equal(answer.said, { count: 2 });
 *     });
 *
 * Each test has a separate graph in memory with the skill loaded on it. A test runs in a sandbox with the limits of a
 * skill, and its calls pass the same gate as those of an agent. It may import the files of the skill.
 */

/** Declare a test. If a file has `only` tests, its other tests are skipped; `skip` skips one test. */
declare const test: {
  (name: string, body: (t: TestContext) => void | Promise<void>): void;
  only(name: string, body: (t: TestContext) => void | Promise<void>): void;
  skip(name: string, body: (t: TestContext) => void | Promise<void>): void;
};

/** The answer of a tool. */
interface ToolAnswer {
  /** The text for a model. */
  readonly text: string;
  /** The data for a program; for a query `matches`, `total` and more. */
  readonly details: { readonly [key: string]: any };
  readonly isError: boolean;
  /** The stable code of an error: `permission_denied`, `undeclared_predicate` … */
  readonly code: string | null;
  /** The enrichment: the `additionalContext` of the skill after cleaning; `null` if there is none. */
  readonly said: any;
}

interface TestContext {
  /** Call a tool as an agent does. A refusal is an answer, with `isError` and `code`. */
  call(tool: string, args?: { readonly [key: string]: JsonValue | undefined }, agent?: string): Promise<ToolAnswer>;
  /** Call `skill_graph_query` with a predicate (in the scope `namespace`) or with arguments. */
  query(what: string | (TriplePattern & { readonly scope?: QueryContext["scope"] }), agent?: string): Promise<ToolAnswer>;

  /** Import an RDF file of the folder of the skill, such as a Turtle file. Resolves to the number of its statements. */
  load(file: string): Promise<number>;
  /** Add a triple to the graph, independent of the permissions of the skill. */
  add(subject: string, predicate: string, object: Value): Promise<void>;
  /** The triples in the graph, independent of the permissions of the skill. */
  triples(pattern?: TriplePattern): Promise<readonly StoredTriple[]>;

  /** Fail unless the value is truthy. */
  ok(value: unknown, message?: string): void;
  /** Fail unless both values are deeply equal. */
  equal(actual: unknown, expected: unknown, message?: string): void;
  /** Fail if both values are deeply equal. */
  notEqual(actual: unknown, expected: unknown, message?: string): void;
  /** Fail unless the text contains the string or matches the regular expression. */
  match(text: string, part: string | RegExp, message?: string): void;
  /** Fail unless the function throws or its promise rejects. Resolves to the error. */
  throws(body: () => unknown, part?: string | RegExp): Promise<any>;
  /** Fail. */
  fail(message?: string): never;
}
